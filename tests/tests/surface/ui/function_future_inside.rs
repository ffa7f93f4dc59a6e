use dlock::{Error, distributed_lock};

#[distributed_lock(key = "orders")]
async fn orders() -> Result<impl Future<Output = u64>, Error> {
    Ok(async { 7 })
}

fn main() {}
