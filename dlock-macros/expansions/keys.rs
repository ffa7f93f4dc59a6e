#[distributed_lock(keys = ["account:{from}", format!("account:{to}")], guard = locks)]
async fn transfer(from: u64, to: u64) -> Result<(), Error> {
    Ok(())
}
