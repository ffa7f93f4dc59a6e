use std::pin::Pin;

use dlock::{Error, distributed_lock};

#[distributed_lock(key = "orders")]
fn orders() -> Pin<Box<dyn Future<Output = Result<u64, Error>>>> {
    let later = async { Ok(7) };
    Box::pin(later)
}

fn main() {}
