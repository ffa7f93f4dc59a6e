use dlock::{Error, LockKind, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = kind)]
async fn ship(order_id: u64, kind: LockKind) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
