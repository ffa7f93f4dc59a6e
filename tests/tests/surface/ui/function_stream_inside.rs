use dlock::{Error, distributed_lock};
use futures_util::Stream;

#[distributed_lock(key = "orders")]
async fn orders() -> Result<impl Stream<Item = u64>, Error> {
    Ok(futures_util::stream::empty())
}

fn main() {}
