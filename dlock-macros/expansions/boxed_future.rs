#[distributed_lock(key = "order:{order_id}")]
fn ship(order_id: u64) -> Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>> {
    let twice = 2 * order_id;
    Box::pin(async move { Ok(twice) })
}
