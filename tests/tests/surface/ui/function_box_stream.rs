use dlock::{Error, distributed_lock};
use futures_util::stream::{BoxStream, StreamExt};

#[distributed_lock(key = "orders")]
async fn orders() -> Result<BoxStream<'static, u64>, Error> {
    Ok(futures_util::stream::empty().boxed())
}

fn main() {}
