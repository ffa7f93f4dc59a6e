use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", mode = "write")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(ship(42).await?, 42);
    Ok(())
}
