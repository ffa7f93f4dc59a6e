use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", owner = "me")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", prefix = "shop")]
async fn bill(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", retry_for = "5s")]
async fn send(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
