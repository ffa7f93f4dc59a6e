#[distributed_lock(key = "nightly", wait = "none", on_busy = |error| Err(Refused(error)))]
fn nightly() -> Result<(), Refused> {
    clean()
}
