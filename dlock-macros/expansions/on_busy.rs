#[distributed_lock(key = "nightly", wait = "none", on_busy = ())]
async fn nightly() {
    clean().await;
}
