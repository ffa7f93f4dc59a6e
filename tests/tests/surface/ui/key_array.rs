use dlock::{Error, distributed_lock};

#[distributed_lock(key = ["account:{from}", "account:{to}"])]
async fn transfer(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

fn main() {}
