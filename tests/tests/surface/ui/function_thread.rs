use std::thread;

use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}")]
fn ship(order_id: u64) -> Result<thread::JoinHandle<u64>, Error> {
    Ok(thread::spawn(move || order_id))
}

fn main() {}
