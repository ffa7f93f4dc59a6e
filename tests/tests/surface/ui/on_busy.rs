use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", on_busy = Ok(0))]
async fn without_wait(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", wait = "forever", on_busy = Ok(0))]
async fn forever(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
