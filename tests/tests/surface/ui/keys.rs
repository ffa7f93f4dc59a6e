use dlock::{Error, distributed_lock};

#[distributed_lock(keys = [])]
async fn empty(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(keys = "account:{from}")]
async fn string(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(keys = ["account:{from}", 2])]
async fn number(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(keys = ["account:{from}", "account:{from}"])]
async fn twice(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(key = "account:{from}", keys = ["account:{from}", "account:{to}"])]
async fn and_key(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

fn main() {}
