//! Bodies that do not come to their end.

use std::sync::atomic::Ordering;

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{connect, stores, unique_prefix};

use crate::attribute::stage::{Stage, write_later};

#[distributed_lock(key = "order", client = client)]
async fn panics(client: Client) -> Result<(), Error> {
    tokio::task::yield_now().await;
    panic!("the body's own fault")
}

#[tokio::test]
async fn a_panic_in_the_body_frees_the_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let panicked = tokio::spawn(panics(client.clone())).await;
        assert!(panicked.expect_err("a panic").is_panic());
        let lock = client.rw_lock("order").expect("valid");
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held to the end");
        assert!(dlock::current().is_none());
    }
}

#[tokio::test]
async fn a_call_dropped_in_the_middle_frees_the_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let stage = Stage::default();
        tokio::select! {
            _ = write_later(client.clone(), stage.clone()) => unreachable!("nobody lets it go on"),
            () = stage.inside.notified() => {}
        }
        assert!(stage.dropped.load(Ordering::SeqCst));
        let lock = client.rw_lock("order").expect("valid");
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held to the end");
    }
}
