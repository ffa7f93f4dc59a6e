#[distributed_lock(key = "nightly", wait = "5s", on_busy = Ok(0))]
async fn nightly() -> Result<u64, Error> {
    clean().await
}
