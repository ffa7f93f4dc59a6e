use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lease = "30")]
async fn without_unit(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "30 sec")]
async fn unit_unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = 30)]
async fn number(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "1.5s")]
async fn fraction(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "-5s")]
async fn negative(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lease = "99999999999999999999s")]
async fn too_long(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", wait = false)]
async fn wait_bool(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", wait = "never")]
async fn wait_unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
