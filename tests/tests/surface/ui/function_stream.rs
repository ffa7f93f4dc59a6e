use dlock::distributed_lock;
use futures_util::Stream;

#[distributed_lock(key = "orders")]
fn orders() -> impl Stream<Item = u64> {
    futures_util::stream::empty()
}

fn main() {}
