use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", linger = "61s")]
async fn above_maximum(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", linger = "500")]
async fn without_unit(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", linger = 500)]
async fn number(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", linger = "500ms", min_hold = "10s")]
async fn with_min_hold(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "mutex", linger = "500ms")]
async fn of_a_mutex(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", lock = "fenced_mutex", linger = "500ms")]
async fn of_a_fenced_mutex(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", linger = "500ms", owner = "me")]
async fn with_owner(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

/// The kind is the only fault, as an unknown kind may linger.
#[distributed_lock(key = "order:{order_id}", lock = "semaphore", linger = "500ms")]
async fn of_an_unknown_kind(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

/// The compiler reports every fault of a function.
#[distributed_lock(key = "order:{order_id}", lock = "mutex", linger = "2m", min_hold = "10s")]
async fn all_at_once(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
