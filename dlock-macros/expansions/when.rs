#[distributed_lock(key = "order:{order.id}", when = order.shared)]
async fn ship(order: Order) -> Result<(), Error> {
    Ok(())
}
