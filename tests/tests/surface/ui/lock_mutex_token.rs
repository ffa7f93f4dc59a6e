use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = "mutex", guard = held)]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(held.fencing_token().as_u64())
}

fn main() {}
