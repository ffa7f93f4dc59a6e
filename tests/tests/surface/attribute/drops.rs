//! Destructors in bodies that call annotated functions on the same lock.

use std::sync::Arc;

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{SOON, connect, scaled, soon, stores, unique_prefix};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

type Undone = mpsc::UnboundedSender<Result<(), Error>>;

/// Puts right what a body has begun.
struct Undo(Client, Undone);

impl Drop for Undo {
    fn drop(&mut self) {
        let _ = self.1.send(undo(&self.0));
    }
}

#[distributed_lock(key = "order", client = client)]
fn undo(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "order", client = &client)]
async fn work(client: Client, undone: Undone, inside: Arc<Notify>) -> Result<(), Error> {
    let _undo = Undo(client.clone(), undone);
    inside.notify_one();
    std::future::pending().await
}

#[distributed_lock(key = "order", client = &client, lease = "200ms", max_hold = "200ms")]
async fn work_for_too_long(client: Client, undone: Undone) -> Result<(), Error> {
    let _undo = Undo(client.clone(), undone);
    std::future::pending().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_does_not_wait_for_its_own_lock() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let (undone, mut heard) = mpsc::unbounded_channel();
        let inside = Arc::new(Notify::new());
        let call = tokio::spawn(work(client.clone(), undone, Arc::clone(&inside)));
        inside.notified().await;
        call.abort();
        let undone = timeout(scaled(SOON), heard.recv()).await;
        undone
            .expect("in time")
            .expect("told")
            .expect("entered again");
        let lock = client.rw_lock("order").expect("valid");
        let guard = lock.write_timeout(scaled(SOON)).await.expect("free");
        guard.release().await.expect("held to the end");
        assert!(dlock::current().is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_stopped_hears_in_its_destructors_that_the_lock_is_lost() {
    for url in stores().await {
        let client = connect(&url, &unique_prefix()).await;
        let (undone, mut heard) = mpsc::unbounded_channel();
        let stopped = tokio::spawn(work_for_too_long(client, undone));
        let error = soon(heard.recv())
            .await
            .expect("told")
            .expect_err("the lock is lost");
        assert!(error.is_lost(), "{error}");
        let error = stopped
            .await
            .expect("no panic")
            .expect_err("it was stopped");
        assert!(error.is_lost(), "{error}");
    }
}
