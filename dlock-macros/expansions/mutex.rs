#[distributed_lock(key = "order:{order_id}", lock = "mutex", guard = lock)]
async fn ship(order_id: u64) -> Result<u64, Error> {
    lock.check().map(|()| order_id)
}
