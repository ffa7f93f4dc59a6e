#[distributed_lock(keys = orders.iter().map(Order::key))]
async fn close(orders: &[Order]) -> Result<(), Error> {
    Ok(())
}
