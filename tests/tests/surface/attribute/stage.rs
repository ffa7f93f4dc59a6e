//! A body that waits inside of its lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dlock::{Client, Error, distributed_lock};
use tokio::sync::Notify;

/// Says when it is dropped.
struct Witness(Arc<AtomicBool>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Where a body is, and what it has done.
#[derive(Clone, Default)]
pub(crate) struct Stage {
    pub(crate) inside: Arc<Notify>,
    pub(crate) go_on: Arc<Notify>,
    pub(crate) wrote: Arc<AtomicBool>,
    pub(crate) dropped: Arc<AtomicBool>,
}

#[distributed_lock(key = "order", client = client, lease = "300ms")]
pub(crate) async fn write_later(client: Client, stage: Stage) -> Result<(), Error> {
    let _witness = Witness(stage.dropped);
    stage.inside.notify_one();
    stage.go_on.notified().await;
    stage.wrote.store(true, Ordering::SeqCst);
    Ok(())
}
