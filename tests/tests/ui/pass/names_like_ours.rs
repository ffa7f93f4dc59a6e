use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "{request}:{grant}", guard = held)]
async fn odd(request: u64, grant: u64, error: u64) -> Result<u64, Error> {
    let (output, run, lock) = (request, grant, held.fencing_token());
    drop(lock);
    Ok(output + run + error)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(odd(1, 2, 3).await?, 6);
    Ok(())
}
