use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = format!("order:{order_id}"), name = "ship")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let scope = dlock::testing::Scope::memory().await?;
    scope.run(ship(1)).await?;
    assert_eq!(scope.taken()[0].label, "ship");
    Ok(())
}
