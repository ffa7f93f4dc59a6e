use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lease = "0s")]
async fn lease_zero(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "50ms")]
async fn lease_below_minimum(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "25h")]
async fn lease_above_maximum(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", max_hold = "0ms")]
async fn max_hold_zero(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", max_hold = "100ms")]
async fn max_hold_below_minimum(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "30s", max_hold = "10s")]
async fn max_hold_below_lease(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", min_hold = "2m", max_hold = "1m")]
async fn min_hold_above_max_hold(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", min_hold = "25h")]
async fn min_hold_above_maximum(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
