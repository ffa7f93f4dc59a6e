use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "a", on_lost = "cancel")]
async fn stops() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", on_lost = "continue")]
async fn goes_on() -> Result<(), Error> {
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    stops().await?;
    goes_on().await?;
    Ok(())
}
