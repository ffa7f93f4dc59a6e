use dlock::{Error, distributed_lock};

#[distributed_lock(key = "")]
async fn empty(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = 42)]
async fn not_a_string(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = ["account:{from}", "account:{to}"])]
async fn array(from: u64, to: u64) -> Result<u64, Error> {
    Ok(from + to)
}

#[distributed_lock(key = [order_id])]
async fn array_of_expressions(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{order_id}")]
async fn too_long(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
