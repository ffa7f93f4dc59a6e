use dlock::testing::Scope;
use dlock::{CallGuard, CallMutexGuard, Error, FencingToken, LockKind, distributed_lock};

#[distributed_lock(key = "a", lock = "rw", mode = "read", guard = lock)]
async fn reader() -> Result<LockKind, Error> {
    Ok(lock.key().kind())
}

#[distributed_lock(key = "a", lock = "mutex", guard = lock)]
async fn mutex() -> Result<LockKind, Error> {
    let lock: CallMutexGuard = lock;
    tokio::select! {
        _ = lock.lost() => lock.check()?,
        () = tokio::task::yield_now() => {}
    }
    assert!(!lock.is_lost());
    assert_eq!(
        format!("{lock:?}"),
        r#"CallMutexGuard { lock: "a", lost: false }"#
    );
    Ok(lock.key().kind())
}

#[distributed_lock(key = "a", lock = "fenced_mutex", mode = "write", guard = lock)]
async fn fenced() -> Result<FencingToken, Error> {
    Ok(lock.fencing_token())
}

#[distributed_lock(keys = ["a", "b"], lock = "mutex", when = both, guard = locks)]
async fn perhaps_two(both: bool) -> Result<usize, Error> {
    let locks: Option<Vec<CallMutexGuard>> = locks;
    Ok(locks.map_or(0, |locks| locks.len()))
}

#[distributed_lock(keys = ["a", "b"], lock = "fenced_mutex", guard = locks)]
fn two_blocking() -> Result<usize, Error> {
    let locks: Vec<CallGuard> = locks;
    Ok(locks.len())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(reader().await?, LockKind::Rw);
            assert_eq!(mutex().await?, LockKind::Mutex);
            let first = fenced().await?;
            assert!(fenced().await? > first);
            assert_eq!(perhaps_two(true).await?, 2);
            assert_eq!(perhaps_two(false).await?, 0);
            Ok(())
        })
        .await
}

#[test]
fn accepted_on_threads() -> Result<(), Error> {
    let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    assert_eq!(scope.run_blocking(two_blocking)?, 2);
    Ok(())
}
