use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", mode = "write")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(ship(42).await?, 42);
            Ok(())
        })
        .await
}
