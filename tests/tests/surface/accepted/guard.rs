use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "a", guard = lock)]
async fn fenced() -> Result<u64, Error> {
    tokio::select! {
        _ = lock.lost() => lock.check()?,
        () = tokio::task::yield_now() => {}
    }
    assert!(!lock.is_lost());
    Ok(lock.fencing_token().as_u64())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let first = fenced().await?;
            assert!(fenced().await? > first);
            Ok(())
        })
        .await
}
