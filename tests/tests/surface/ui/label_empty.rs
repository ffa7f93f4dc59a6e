use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", label = "")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
