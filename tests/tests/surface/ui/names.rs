use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", guard = "lock")]
async fn guard_string(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", guard = order_id)]
async fn guard_shadows_argument(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", label = "")]
async fn label_empty(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", label = order_id)]
async fn label_expression(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", crate = "dlock")]
async fn crate_string(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
