use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", client = locks)]
async fn ship<C>(order_id: u64, locks: &C) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
