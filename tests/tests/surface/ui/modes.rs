use dlock::{Error, LockMode, distributed_lock};

#[distributed_lock(key = "order:{order_id}", mode = "raed")]
async fn typo(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mode = "exclusive")]
async fn synonym(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mode = write)]
async fn without_quotes(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mode = "mutex")]
async fn kind(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mode = "upgrade")]
async fn unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "mutex", mode = "read")]
async fn mutex_read(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "fenced_mutex", mode = "read")]
async fn fenced_mutex_read(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "mutex", mode = mode)]
async fn mutex_expression(order_id: u64, mode: LockMode) -> Result<(u64, LockMode), Error> {
    Ok((order_id, mode))
}

fn main() {}
