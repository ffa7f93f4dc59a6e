use std::pin::Pin;

use dlock::{Error, distributed_lock};
use tokio::task::JoinSet;

#[distributed_lock(key = "orders")]
fn orders() -> Pin<Box<dyn Future<Output = Result<JoinSet<u64>, Error>>>> {
    Box::pin(async move { Ok(JoinSet::new()) })
}

fn main() {}
