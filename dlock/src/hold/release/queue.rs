//! The queue of releases: what the server is told, now or later.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::farewell::Farewell;
use super::farewell::{Pending, Tally};
use super::task;
use crate::clock::{BootInstant, Instant};
use crate::hold::Hold;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::protocol::{Extent, HoldId, Op, Stray, validity};
use crate::store::Store;
use crate::tasks::Place;

/// A hold that stays for longer is not released before its end: waiters find the end at their next look, and very many such
/// holds would fill the memory.
const FOLLOWED: Duration = Duration::from_secs(60);

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
    /// Models have none, nor a task that delivers.
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
        let (key, lease) = (hold.key.clone(), hold.longest());
        self.push(key, of(hold), lease, self.begin());
    }

    /// Undoes an acquire that no caller wants any more.
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
        self.send_later(self.follow_up(&key, &op, lease));
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

    /// The operations to send later, if `op` is sent now. (Not if the client has been shut down by then.)
    ///
    /// A hold that stays for a while ends by itself, without a message to waiters: so it is released just before. And a plain `SET`
    /// has no validity: a delayed duplicate of it may take a mutex for no client, which is released once none can arrive any more.
    pub(in crate::hold) fn follow_up(&self, key: &LockKey, op: &Op, lease: Duration) -> Vec<Item> {
        let mut items = Vec::new();
        let (hold, stays) = match op {
            Op::Renew { hold, lease, .. } => (hold, *lease),
            Op::Release { hold, .. } | Op::Abandon { hold, .. } => (hold, Duration::ZERO),
            _ => return items,
        };
        let rest = stays.saturating_sub(SPARE);
        if !rest.is_zero() && rest <= FOLLOWED {
            let release = super::of_another(hold.clone(), lease);
            items.push(later(key, release, rest, stays + lease));
        }
        let late = key.kind() == LockKind::Mutex && op.stray() != Stray::None;
        if late && stays < self.strays_for {
            let abandon = Op::Abandon {
                hold: hold.clone(),
                stray: Stray::None,
            };
            items.push(later(
                key,
                abandon,
                self.strays_for,
                self.strays_for + lease,
            ));
        }
        items
    }

    /// Has [`follow_up`](Self::follow_up) sent when it is due.
    pub(in crate::hold) fn send_later(&self, items: Vec<Item>) {
        for item in items {
            let _ = self.sender.send(item);
        }
    }
}

fn later(key: &LockKey, op: Op, after: Duration, within: Duration) -> Item {
    Item {
        key: key.clone(),
        op,
        until: BootInstant::now() + within,
        due: Some(Instant::now() + after),
        _pending: None,
        _queued: None,
    }
}

/// How much longer a hold stays that has to stay for a while. Its end by itself wakes no waiter, so it is released before that.
pub(super) const SPARE: Duration = Duration::from_millis(200);

/// The release of a hold of this client. One that has to stay for a while gets an end at which it is gone by itself,
/// whatever becomes of this process.
#[inline]
pub(in crate::hold) fn of(hold: &Hold) -> Op {
    if let Some(rest) = hold.rest() {
        return Op::Renew {
            hold: hold.id.clone(),
            lease: rest + SPARE,
            extent: Extent::Exactly {
                stray: hold.stray(),
            },
        };
    }
    Op::Release {
        hold: hold.id.clone(),
        lease: hold.terms.lease,
        stray: hold.stray(),
    }
}

/// The release of a hold of which only the id is known.
pub(in crate::hold) fn of_another(hold: HoldId, lease: Duration) -> Op {
    Op::Release {
        hold,
        lease,
        stray: Stray::None,
    }
}

/// Releases by the time at which they are due.
#[derive(Default)]
pub(super) struct Later {
    items: BTreeMap<(Instant, u64), Item>,
    number: u64,
}

impl Later {
    pub(super) fn put(&mut self, due: Instant, item: Item) {
        self.number += 1;
        self.items.insert((due, self.number), item);
    }

    /// When the first release is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.items.keys().next().map(|(due, _)| *due)
    }

    /// Takes the releases that are due.
    pub(super) fn take(&mut self, now: Instant) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || {
            let first = self.items.first_entry()?;
            (first.key().0 <= now).then(|| first.remove())
        })
    }
}
