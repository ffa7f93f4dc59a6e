use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id")]
async fn brace_open(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:order_id}")]
async fn brace_closed(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "{{tenant:order:{order_id}")]
async fn tag_open(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "tenant}}:order:{order_id}")]
async fn tag_closed(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(keys = ["{{}}:order:{order_id}", "{{order:{order_id}"])]
async fn tag_empty(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
