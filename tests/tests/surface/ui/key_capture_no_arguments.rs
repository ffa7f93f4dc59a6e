use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{tenant}")]
async fn ship() -> Result<u64, Error> {
    Ok(1)
}

fn main() {}
