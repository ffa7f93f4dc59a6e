use dlock::testing::Scope;
use dlock::{Error, LockMode, distributed_lock};

#[distributed_lock(key = "stock", mode = "read", guard = lock)]
async fn look() -> Result<LockMode, Error> {
    Ok(lock.mode())
}

#[distributed_lock(key = "stock", mode = if change { LockMode::Write } else { LockMode::Read }, guard = lock)]
async fn touch(change: bool) -> Result<LockMode, Error> {
    Ok(lock.mode())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(look().await?, LockMode::Read);
            assert_eq!(touch(true).await?, LockMode::Write);
            assert_eq!(touch(false).await?, LockMode::Read);
            Ok(())
        })
        .await
}
