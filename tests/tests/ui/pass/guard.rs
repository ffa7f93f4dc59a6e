use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "a", guard = lock)]
async fn fenced() -> Result<u64, Error> {
    tokio::select! {
        () = lock.lost() => lock.check()?,
        () = tokio::task::yield_now() => {}
    }
    assert!(!lock.is_lost());
    Ok(lock.fencing_token().as_u64())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let first = fenced().await?;
    assert!(fenced().await? > first);
    Ok(())
}
