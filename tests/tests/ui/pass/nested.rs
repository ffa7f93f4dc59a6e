use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "a")]
async fn outer() -> Result<u64, Error> {
    let lock = dlock::current().expect("held");
    let inner = inner().await?;
    assert_eq!(lock.fencing_token().as_u64(), inner);
    Ok(inner)
}

#[distributed_lock(key = "a", mode = "read", guard = lock)]
async fn inner() -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    outer().await?;
    assert!(dlock::current().is_none());
    Ok(())
}
