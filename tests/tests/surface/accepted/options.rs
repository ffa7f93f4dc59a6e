use dlock::testing::Scope;
use dlock::{CallGuard, CallMutexGuard, Error, FencingToken, LockKind, LockMode, distributed_lock};

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

accepted!(kinds, {
    assert_eq!(reader().await?, LockKind::Rw);
    assert_eq!(mutex().await?, LockKind::Mutex);
    let first = fenced().await?;
    assert!(fenced().await? > first);
    assert_eq!(perhaps_two(true).await?, 2);
    assert_eq!(perhaps_two(false).await?, 0);
});

#[distributed_lock(keys = ["a", "b"], lock = "fenced_mutex", guard = locks)]
fn two_blocking() -> Result<usize, Error> {
    let locks: Vec<CallGuard> = locks;
    Ok(locks.len())
}

#[test]
fn kinds_on_threads() -> Result<(), Error> {
    let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    assert_eq!(scope.run_blocking(two_blocking)?, 2);
    Ok(())
}

#[distributed_lock(key = "stock", mode = "read", guard = lock)]
async fn look() -> Result<LockMode, Error> {
    Ok(lock.mode())
}

#[distributed_lock(key = "stock", mode = if change { LockMode::Write } else { LockMode::Read }, guard = lock)]
async fn touch(change: bool) -> Result<LockMode, Error> {
    Ok(lock.mode())
}

accepted!(modes, {
    assert_eq!(look().await?, LockMode::Read);
    assert_eq!(touch(true).await?, LockMode::Write);
    assert_eq!(touch(false).await?, LockMode::Read);
});

#[distributed_lock(key = "a", guard = lock)]
async fn guarded() -> Result<u64, Error> {
    tokio::select! {
        _ = lock.lost() => lock.check()?,
        () = tokio::task::yield_now() => {}
    }
    assert!(!lock.is_lost());
    Ok(lock.fencing_token().as_u64())
}

accepted!(guard, {
    let first = guarded().await?;
    assert!(guarded().await? > first);
});

#[distributed_lock(key = format!("order:{order_id}"), label = "ship")]
async fn labelled(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

accepted!(label, scope, {
    labelled(1).await?;
    assert_eq!(scope.taken()[0].label, "ship");
});

#[distributed_lock(key = "a", on_lost = "cancel")]
async fn stops() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", on_lost = "continue")]
async fn goes_on() -> Result<(), Error> {
    Ok(())
}

accepted!(on_lost, {
    stops().await?;
    goes_on().await?;
});

#[distributed_lock(key = "order:{order_id}", when = shared, guard = lock)]
async fn ship(order_id: u64, shared: bool) -> Result<bool, Error> {
    Ok(lock.is_some())
}

#[distributed_lock(keys = ["a", "b"], when = shared, guard = locks)]
async fn both(shared: bool) -> Result<usize, Error> {
    Ok(locks.map_or(0, |locks| locks.len()))
}

accepted!(when, {
    assert!(ship(1, true).await?);
    assert!(!ship(1, false).await?);
    assert_eq!(both(true).await?, 2);
    assert_eq!(both(false).await?, 0);
});
