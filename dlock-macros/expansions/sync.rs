#[distributed_lock(key = "ledger:{tenant}")]
fn add(tenant: &str, ledger: &mut Ledger) -> Result<u64, Error> {
    ledger.add(1)
}
