use dlock::{Client, Error, distributed_lock};

#[derive(Debug, PartialEq)]
enum Failure {
    Busy,
    Lock(String),
}

#[distributed_lock(
    key = "job",
    wait = "none",
    on_busy = |error| Err(if error.is_contended() { Failure::Busy } else { Failure::Lock(error.to_string()) })
)]
async fn job() -> Result<u64, Failure> {
    Ok(7)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(job().await, Ok(7));
    let held = dlock::installed()?.rw_lock("job")?.write().await?;
    assert_eq!(job().await, Err(Failure::Busy));
    held.release().await?;
    dlock::installed()?.shutdown().await?;
    assert!(matches!(job().await, Err(Failure::Lock(_))));
    Ok(())
}
