#[distributed_lock(keys = ["a", "b"], lock = "fenced_mutex", mode = "write", guard = locks)]
async fn ship() -> Result<usize, Error> {
    Ok(locks.len())
}
