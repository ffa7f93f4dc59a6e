use std::pin::Pin;

use dlock::distributed_lock;
use futures_util::future::FutureExt;

type Later<'a> = Pin<Box<dyn Future<Output = u64> + Send + 'a>>;

#[distributed_lock(key = "orders", on_busy = |_| Box::pin(async { 0 }))]
fn orders() -> Later<'static> {
    Box::pin(async move { 7 })
}

#[distributed_lock(key = "orders", wait = "none", on_busy = Box::pin(async { 0 }))]
fn returned(id: &u64) -> Later<'_> {
    return Box::pin(async { *id });
}

#[distributed_lock(key = "orders", wait = "none", on_busy = Box::pin(async { 0 }))]
fn by_method(id: u64) -> Later<'static> {
    println!("{id}");
    async move { id }.boxed()
}

fn main() {}
