use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

fn key_of(order_id: u64) -> String {
    format!("order:{order_id}")
}

#[distributed_lock(key = key_of(order_id), guard = lock)]
async fn ship(order_id: u64) -> Result<String, Error> {
    Ok(lock.key().name().to_owned())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(ship(42).await?, "order:42");
            Ok(())
        })
        .await
}
