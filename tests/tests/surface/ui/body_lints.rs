#![deny(unused_variables, unused_mut)]

use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", guard = held)]
async fn ship(order_id: u64, unused: u32) -> Result<u64, Error> {
    let mut copy = order_id;
    Ok(copy)
}

fn main() {}
