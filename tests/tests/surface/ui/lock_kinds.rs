use dlock::{Error, LockKind, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = "mutx")]
async fn typo(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "RwLock")]
async fn synonym(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = mutex)]
async fn without_quotes(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "semaphore")]
async fn unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

/// The kind is the only fault, as an unknown kind may have readers.
#[distributed_lock(key = "order:{order_id}", lock = "semaphore", mode = "read")]
async fn unknown_read(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(lock = "order:{order_id}")]
async fn key_as_kind(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = kind)]
async fn expression(order_id: u64, kind: LockKind) -> Result<(u64, LockKind), Error> {
    Ok((order_id, kind))
}

fn main() {}
