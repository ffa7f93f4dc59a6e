use std::pin::Pin;
use std::rc::Rc;

use dlock::{Error, distributed_lock};
use futures_util::future::BoxFuture;

#[distributed_lock(key = "order:{order_id}", guard = lock)]
fn by_hand(order_id: u64) -> Pin<Box<dyn Future<Output = Result<String, Error>> + Send>> {
    Box::pin(async move { Ok(lock.key().name().to_owned()) })
}

#[distributed_lock(key = "order:{order_id}", guard = lock)]
fn by_alias(order_id: &u64) -> BoxFuture<'_, Result<String, Error>> {
    Box::pin(async move { Ok(lock.key().name().to_owned()) })
}

accepted!(boxed, {
    assert_eq!(by_hand(1).await?, "order:1");
    assert_eq!(by_alias(&2).await?, "order:2");
});

#[distributed_lock(key = "a")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(order_id)
}

#[distributed_lock(keys = ["a", "b"], wait = "1s")]
async fn both() -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(2)
}

#[distributed_lock(key = "a")]
async fn local(shared: Rc<u64>) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(*shared)
}

fn is_send<T: Send>(future: T) -> T {
    future
}

accepted!(send, {
    assert_eq!(is_send(ship(1)).await?, 1);
    assert_eq!(is_send(both()).await?, 2);
    assert_eq!(local(Rc::new(3)).await?, 3);
});

#[distributed_lock(key = "a")]
async fn outer() -> Result<u64, Error> {
    let lock = dlock::current().expect("held");
    let inner = inner().await?;
    assert_eq!(lock.fencing_token().as_u64(), inner);
    Ok(inner)
}

#[distributed_lock(key = "a", mode = "read", guard = lock)]
async fn inner() -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}

accepted!(nested, {
    outer().await?;
    assert!(dlock::current().is_none());
});
