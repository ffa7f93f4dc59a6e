use dlock::{Error, Kind, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = kind)]
async fn ship(order_id: u64, kind: Kind) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
