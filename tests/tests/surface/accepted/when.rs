use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", when = shared, guard = lock)]
async fn ship(order_id: u64, shared: bool) -> Result<bool, Error> {
    Ok(lock.is_some())
}

#[distributed_lock(keys = ["a", "b"], when = shared, guard = locks)]
async fn both(shared: bool) -> Result<usize, Error> {
    Ok(locks.map_or(0, |locks| locks.len()))
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert!(ship(1, true).await?);
            assert!(!ship(1, false).await?);
            assert_eq!(both(true).await?, 2);
            assert_eq!(both(false).await?, 0);
            Ok(())
        })
        .await
}
