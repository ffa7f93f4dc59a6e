use dlock::testing::Scope;
use dlock::{Error, Mode, distributed_lock};

#[distributed_lock(key = "stock", mode = "read", guard = lock)]
async fn look() -> Result<Mode, Error> {
    Ok(lock.mode())
}

#[distributed_lock(key = "stock", mode = if change { Mode::Write } else { Mode::Read }, guard = lock)]
async fn touch(change: bool) -> Result<Mode, Error> {
    Ok(lock.mode())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(look().await?, Mode::Read);
            assert_eq!(touch(true).await?, Mode::Write);
            assert_eq!(touch(false).await?, Mode::Read);
            Ok(())
        })
        .await
}
