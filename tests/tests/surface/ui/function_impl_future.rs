use dlock::{Error, distributed_lock};

use std::future::Future;

#[distributed_lock(key = "order:{order_id}")]
fn ship(order_id: u64) -> impl Future<Output = Result<u64, Error>> {
    async move { Ok(order_id) }
}

fn main() {}
