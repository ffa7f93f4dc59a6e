use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "a", wait = "none")]
async fn at_once() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "forever")]
async fn patient() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "0s")]
async fn zero() -> Result<(), Error> {
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    at_once().await?;
    patient().await?;
    zero().await?;
    Ok(())
}
