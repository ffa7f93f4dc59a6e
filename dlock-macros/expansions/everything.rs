#[distributed_lock(
    key = "{{{tenant}}}:order:{order.id:05}",
    mode = mode,
    lease = "30s",
    max_hold = LIMIT,
    linger = "500ms",
    wait = "250ms",
    on_lost = "continue",
    guard = lock,
    client = db.locks,
    label = "ship",
    crate = shop::dlock
)]
async fn ship(tenant: &str, order: Order, mode: LockMode, db: &Db) -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}
