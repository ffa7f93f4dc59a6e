//! The queue of releases, and its two ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::pending::{Pending, Tally};
use super::task;
use crate::clock::BootInstant;
use crate::key::LockKey;
use crate::lock::Hold;
use crate::protocol::{HoldId, Op, Stray};
use crate::store::Store;

/// One release or abandon to deliver.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: LockKey,
    pub(super) op: Op,
    /// The lease has ended by then, so there is nothing left to deliver.
    pub(super) until: BootInstant,
    pub(super) _pending: Pending,
}

/// Where dropped guards leave their releases. It has no limit, so that none is ever lost.
#[derive(Debug, Clone)]
pub(crate) struct ReleaseQueue {
    sender: mpsc::UnboundedSender<Item>,
    tally: Arc<Tally>,
}

impl ReleaseQueue {
    /// Marks an acquire or release as under way: `flush` waits for it.
    pub(crate) fn begin(&self) -> Pending {
        Pending::new(&self.tally)
    }

    /// Gives a hold back.
    pub(crate) fn release(&self, hold: &Hold) {
        let op = Op::Release {
            hold: hold.id.clone(),
            handed: hold.handed(),
            lease: hold.lease,
            stray: hold.stray(),
        };
        self.push(hold.key.clone(), op, hold.lease, self.begin());
    }

    /// Undoes an acquire that nobody wants any more.
    pub(crate) fn abandon(
        &self,
        key: LockKey,
        hold: HoldId,
        stray: Stray,
        lease: Duration,
        pending: Pending,
    ) {
        self.push(key, Op::Abandon { hold, stray }, lease, pending);
    }

    fn push(&self, key: LockKey, op: Op, lease: Duration, pending: Pending) {
        // Fails only when the task went down with its runtime; then leases end by themselves.
        let _ = self.sender.send(Item {
            key,
            op,
            until: BootInstant::now() + lease,
            _pending: pending,
        });
    }
}

/// Owns the task that empties the queue.
#[derive(Debug)]
pub(crate) struct Releaser {
    queue: ReleaseQueue,
}

impl Releaser {
    /// Starts the task. It ends once every [`ReleaseQueue`] is gone and the queue is empty.
    pub(crate) fn start(store: Arc<Store>, response_timeout: Duration) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(task::run(receiver, store, response_timeout));
        Self {
            queue: ReleaseQueue {
                sender,
                tally: Arc::default(),
            },
        }
    }

    pub(crate) fn queue(&self) -> ReleaseQueue {
        self.queue.clone()
    }

    /// Completes when nothing is under way.
    pub(crate) async fn flush(&self) {
        self.queue.tally.zero().await;
    }
}

impl std::ops::Deref for Releaser {
    type Target = ReleaseQueue;

    fn deref(&self) -> &ReleaseQueue {
        &self.queue
    }
}
