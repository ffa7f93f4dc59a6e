use dlock::{Error, LockMode, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = "mutex", mode = mode)]
async fn ship(order_id: u64, mode: LockMode) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
