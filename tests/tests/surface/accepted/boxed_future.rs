use dlock::testing::Scope;
use std::pin::Pin;

use dlock::{Error, distributed_lock};
use futures_util::future::BoxFuture;

#[distributed_lock(key = "order:{order_id}", guard = lock)]
fn by_hand(order_id: u64) -> Pin<Box<dyn Future<Output = Result<String, Error>> + Send>> {
    Box::pin(async move { Ok(lock.key().name().to_owned()) })
}

#[distributed_lock(key = "order:{order_id}", guard = lock)]
fn by_alias(order_id: &u64) -> BoxFuture<'_, Result<String, Error>> {
    Box::pin(async move { Ok(lock.key().name().to_owned()) })
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(by_hand(1).await?, "order:1");
            assert_eq!(by_alias(&2).await?, "order:2");
            Ok(())
        })
        .await
}
