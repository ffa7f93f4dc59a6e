use dlock::{Error, distributed_lock};

#[distributed_lock]
async fn no_arguments(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(mode = "write")]
async fn missing(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock("order:{order_id}")]
async fn without_name(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key)]
async fn without_value(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = , mode = "read")]
async fn value_missing(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key: "order:{order_id}")]
async fn colon(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key("order:{order_id}"))]
async fn parenthesised(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
