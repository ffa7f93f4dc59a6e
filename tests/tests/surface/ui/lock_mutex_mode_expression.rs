use dlock::{Error, Mode, distributed_lock};

#[distributed_lock(key = "order:{order_id}", lock = "mutex", mode = mode)]
async fn ship(order_id: u64, mode: Mode) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
