use dlock::{Error, distributed_lock};

#[distributed_lock(lock = "order:{order_id}")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
