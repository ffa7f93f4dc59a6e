//! The queue of releases, and its two ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::farewell::Farewell;
use super::pending::{Pending, Tally};
use super::{op, task};
use crate::clock::{BootInstant, Instant};
use crate::hold::Hold;
use crate::key::LockKey;
use crate::kind::Kind;
use crate::protocol::{HoldId, Op, Stray, validity};
use crate::store::Store;
use crate::tasks::Place;

/// One release or abandon to deliver.
#[derive(Debug)]
pub(in crate::hold) struct Item {
    pub(super) key: LockKey,
    pub(in crate::hold) op: Op,
    /// The lease has ended by then, so there is nothing left to deliver.
    pub(super) until: BootInstant,
    /// Not to be delivered before.
    pub(super) due: Option<Instant>,
    pub(super) _pending: Option<Pending>,
    _queued: Option<Pending>,
}

/// Where dropped guards leave their releases. It has no limit, so that none is ever lost.
#[derive(Debug, Clone)]
pub(in crate::hold) struct Releases {
    sender: mpsc::UnboundedSender<Item>,
    tally: Arc<Tally>,
    /// How long after the end of a hold a copy of its acquire may arrive.
    strays_for: Duration,
    /// Models have none, nor anybody who delivers.
    farewell: Option<Arc<Farewell>>,
}

impl Releases {
    /// Starts the task that empties the queue. It ends once every clone of this is gone and the queue is empty.
    pub(in crate::hold) fn start(store: Arc<Store>, response_timeout: Duration) -> Self {
        let (mut releases, receiver) = Self::new();
        releases.farewell = Some(Farewell::new());
        releases.strays_for = 2 * validity(response_timeout);
        Place::own().spawn(task::run(receiver, store, response_timeout));
        releases
    }

    pub(in crate::hold) fn new() -> (Self, mpsc::UnboundedReceiver<Item>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let releases = Self {
            sender,
            tally: Arc::default(),
            strays_for: Duration::ZERO,
            farewell: None,
        };
        (releases, receiver)
    }

    /// Marks an acquire or release as under way: `flush` waits for it.
    pub(in crate::hold) fn begin(&self) -> Pending {
        Pending::new(&self.tally)
    }

    /// Completes when nothing is under way.
    pub(in crate::hold) async fn flush(&self) {
        self.tally.zero().await;
    }

    /// Gives a hold back.
    pub(in crate::hold) fn release(&self, hold: &Hold) {
        let (key, lease) = (hold.key.clone(), hold.terms.lease);
        self.push(key, op::of(hold), lease, self.begin());
    }

    /// Undoes an acquire that nobody wants any more.
    pub(in crate::hold) fn abandon(
        &self,
        key: LockKey,
        hold: HoldId,
        stray: Stray,
        lease: Duration,
        pending: Pending,
    ) {
        self.push(key, Op::Abandon { hold, stray }, lease, pending);
    }

    /// What was queued on this thread is delivered before its runtime has ended, or now if it has none.
    pub(in crate::hold) fn see_off(&self) {
        if let Some(farewell) = &self.farewell {
            farewell.see_off();
        }
    }

    fn push(&self, key: LockKey, op: Op, lease: Duration, pending: Pending) {
        self.follow_up(&key, &op, lease);
        // The task that receives runs where nothing ends.
        let _ = self.sender.send(Item {
            key,
            op,
            until: BootInstant::now() + lease,
            due: None,
            _pending: Some(pending),
            _queued: self.farewell.as_ref().map(|farewell| farewell.queued()),
        });
    }

    /// A plain `SET` does not say until when it is valid: what a late copy of it may have taken for nobody is given back once
    /// no more can come. (Not if the client has been shut down by then.)
    pub(in crate::hold) fn follow_up(&self, key: &LockKey, op: &Op, lease: Duration) {
        if key.kind() != Kind::Mutex {
            return;
        }
        let (Op::Release { hold, stray, .. } | Op::Abandon { hold, stray }) = op else {
            return;
        };
        if *stray == Stray::None {
            return;
        }
        let _ = self.sender.send(Item {
            key: key.clone(),
            op: Op::Abandon {
                hold: hold.clone(),
                stray: Stray::None,
            },
            until: BootInstant::now() + self.strays_for + lease,
            due: Some(Instant::now() + self.strays_for),
            _pending: None,
            _queued: None,
        });
    }
}
