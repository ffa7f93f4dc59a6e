use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_di}")]
async fn typo(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(keys = ["account:{from}", "account:{too}"])]
async fn typo_in_keys(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(key = "order:{tenant}")]
async fn unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{tenant}")]
async fn no_arguments() -> Result<u64, Error> {
    Ok(1)
}

#[distributed_lock(key = "order:{self.tenant}")]
async fn no_receiver(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{}")]
async fn empty(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{0}")]
async fn position(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id + 1}")]
async fn expression(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
