use dlock::{Error, distributed_lock};
use tokio::task::JoinHandle;

#[distributed_lock(key = "order:{order_id}")]
async fn ship(order_id: u64) -> Result<JoinHandle<u64>, Error> {
    Ok(tokio::spawn(async move { order_id }))
}

fn main() {}
