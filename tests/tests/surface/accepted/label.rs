use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = format!("order:{order_id}"), label = "ship")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            ship(1).await?;
            assert_eq!(scope.taken()[0].label, "ship");
            Ok(())
        })
        .await
}
