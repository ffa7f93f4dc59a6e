use dlock::{Error, distributed_lock};

#[distributed_lock(keys = [])]
async fn transfer(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

fn main() {}
