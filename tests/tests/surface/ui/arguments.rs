use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", leese = "30s")]
async fn typo(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", timeout = "5s")]
async fn synonym(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mutex = true)]
async fn kind_of_lock(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", verbosity = 3)]
async fn unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", owner = "me")]
async fn owner(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", prefix = "shop")]
async fn prefix(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", retry_for = "5s")]
async fn retry_for(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", mode = "read", mode = "write")]
async fn twice(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}" mode = "read")]
async fn comma_missing(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", 5s = "lease")]
async fn not_a_name(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

/// The compiler reports every fault of a function.
#[distributed_lock(kee = "order:{order_id}", mode = "exclusive", lease = "0s", guard = "lock", on_lost = "abort")]
async fn all_at_once(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
