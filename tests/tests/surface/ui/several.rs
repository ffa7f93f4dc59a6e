use dlock::{Error, distributed_lock};

#[distributed_lock(kee = "order:{order_id}", mode = "exclusive", lease = "0s", guard = "lock", on_lost = "abort")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
