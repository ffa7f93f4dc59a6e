#[distributed_lock(key = "stock", mode = "read")]
async fn look() -> anyhow::Result<u64> {
    Ok(7)
}
