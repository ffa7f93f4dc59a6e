//! The end of a body that returns nothing is where a value is missing.

use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}")]
async fn ship(order_id: u64) -> Result<(), Error> {
    let _ = order_id;
}

#[distributed_lock(key = "order:{order_id}")]
fn ship_now(order_id: u64) -> Result<(), Error> {
    let _ = order_id;
}

fn main() {}
