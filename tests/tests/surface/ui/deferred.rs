use std::pin::Pin;
use std::thread;

use dlock::{Error, distributed_lock};
use futures_util::future::FutureExt;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use tokio::task::{JoinHandle, JoinSet};

#[distributed_lock(key = "order:{order_id}")]
fn impl_future(order_id: u64) -> impl Future<Output = Result<u64, Error>> {
    async move { Ok(order_id) }
}

#[distributed_lock(key = "orders")]
fn boxed() -> Pin<Box<dyn Future<Output = Result<u64, Error>>>> {
    let later = async { Ok(7) };
    Box::pin(later)
}

type Later<'a> = Pin<Box<dyn Future<Output = u64> + Send + 'a>>;

#[distributed_lock(key = "orders", on_busy = |_| Box::pin(async { 0 }))]
fn alias() -> Later<'static> {
    Box::pin(async move { 7 })
}

#[distributed_lock(key = "orders", wait = "none", on_busy = Box::pin(async { 0 }))]
fn alias_returned(id: &u64) -> Later<'_> {
    return Box::pin(async { *id });
}

#[distributed_lock(key = "orders", wait = "none", on_busy = Box::pin(async { 0 }))]
fn alias_by_method(id: u64) -> Later<'static> {
    println!("{id}");
    async move { id }.boxed()
}

#[distributed_lock(key = "orders")]
async fn future_inside() -> Result<impl Future<Output = u64>, Error> {
    Ok(async { 7 })
}

#[distributed_lock(key = "orders")]
fn stream() -> impl Stream<Item = u64> {
    futures_util::stream::empty()
}

#[distributed_lock(key = "orders")]
async fn stream_inside() -> Result<impl Stream<Item = u64>, Error> {
    Ok(futures_util::stream::empty())
}

#[distributed_lock(key = "orders")]
async fn box_stream() -> Result<BoxStream<'static, u64>, Error> {
    Ok(futures_util::stream::empty().boxed())
}

#[distributed_lock(key = "order:{order_id}")]
async fn task(order_id: u64) -> Result<JoinHandle<u64>, Error> {
    Ok(tokio::spawn(async move { order_id }))
}

#[distributed_lock(key = "orders")]
fn boxed_task() -> Pin<Box<dyn Future<Output = Result<JoinSet<u64>, Error>>>> {
    Box::pin(async move { Ok(JoinSet::new()) })
}

#[distributed_lock(key = "order:{order_id}")]
fn thread_handle(order_id: u64) -> Result<thread::JoinHandle<u64>, Error> {
    Ok(thread::spawn(move || order_id))
}

fn main() {}
