use std::io;

use dlock::distributed_lock;

#[distributed_lock(key = "order:{order_id}")]
async fn ship(order_id: u64) -> io::Result<u64> {
    Ok(order_id)
}

fn main() {}
