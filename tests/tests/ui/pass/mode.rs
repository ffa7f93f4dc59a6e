use dlock::{Client, Error, Mode, distributed_lock};

#[distributed_lock(key = "stock", mode = "read", guard = lock)]
async fn look() -> Result<Mode, Error> {
    Ok(lock.mode())
}

#[distributed_lock(key = "stock", mode = if change { Mode::Write } else { Mode::Read }, guard = lock)]
async fn touch(change: bool) -> Result<Mode, Error> {
    Ok(lock.mode())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(look().await?, Mode::Read);
    assert_eq!(touch(true).await?, Mode::Write);
    assert_eq!(touch(false).await?, Mode::Read);
    Ok(())
}
