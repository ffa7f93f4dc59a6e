//! The store a client uses: memory or Redis.

use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Answer, Listener, MemoryStore, Wakeups};
use crate::client::Config;
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::metrics;
use crate::protocol::{ClientId, HoldId, Op};
use crate::slot::Slot;

/// Where a client's locks live. An enum rather than a trait object: a call then costs neither an
/// allocation nor an indirection.
pub(crate) enum Store {
    /// In this process.
    Memory(Arc<MemoryStore>, Arc<Wakeups>),
}

/// What renewals and releases are grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum NodeId {
    /// The memory store.
    Memory,
}

/// A waiter's ear.
#[derive(Debug)]
#[must_use = "dropping it stops listening"]
pub(crate) enum Listening {
    /// In this process.
    Memory(Listener),
}

impl Listening {
    /// Whether wake-ups can arrive; otherwise the waiter has to poll.
    pub(crate) fn is_subscribed(&self) -> bool {
        match self {
            Self::Memory(_) => true,
        }
    }

    /// Completes at the next wake-up, or at once if one has come since the last time.
    pub(crate) async fn woken(&self) {
        match self {
            Self::Memory(listener) => listener.woken().await,
        }
    }
}

impl Store {
    pub(crate) async fn open(
        url: &str,
        _config: &Config,
        client: &ClientId,
    ) -> Result<Self, Error> {
        let Some(name) = url.strip_prefix("memory://") else {
            return Err(Error::new(ErrorKind::InvalidConfig, "unknown URL scheme"));
        };
        let store = if name.is_empty() {
            Arc::new(MemoryStore::new())
        } else {
            MemoryStore::named(name)
        };
        let wakeups = Arc::default();
        store.attach(client, &wakeups);
        Ok(Self::Memory(store, wakeups))
    }

    /// Carries out one operation; tried again until `deadline` while servers fail.
    pub(crate) async fn call(
        &self,
        key: &LockKey,
        op: &Op,
        _deadline: Instant,
    ) -> Result<Answer, Error> {
        let answer = match self {
            Self::Memory(store, _) => remember(store, key, op),
        };
        metrics::command(op.name(), answer.sent_at);
        Ok(answer)
    }

    /// Where a slot lives now.
    pub(crate) fn node_of(&self, _slot: Slot) -> NodeId {
        match self {
            Self::Memory(..) => NodeId::Memory,
        }
    }

    /// Carries out operations of one node in one go. Failures mean that the outcome is unknown.
    pub(crate) async fn call_batch(
        &self,
        node: &NodeId,
        batch: &[(LockKey, Op)],
        _deadline: Instant,
    ) -> Vec<Result<Answer, Error>> {
        let answers: Vec<Result<Answer, Error>> = match (self, node) {
            (Self::Memory(store, _), NodeId::Memory) => batch
                .iter()
                .map(|(key, op)| Ok(remember(store, key, op)))
                .collect(),
        };
        for ((_, op), answer) in batch.iter().zip(&answers) {
            if let Ok(answer) = answer {
                metrics::command(op.name(), answer.sent_at);
            }
        }
        answers
    }

    /// Makes sure that a wake-up of this hold is heard. Never fails: at worst waiters poll.
    pub(crate) async fn listen(&self, _key: &LockKey, hold: &HoldId) -> Listening {
        match self {
            Self::Memory(_, wakeups) => Listening::Memory(wakeups.listen(hold)),
        }
    }

    /// Listens if that costs nothing, so that no wake-up can slip in between the first request
    /// and the subscription.
    pub(crate) fn listen_if_subscribed(&self, _key: &LockKey, hold: &HoldId) -> Option<Listening> {
        match self {
            Self::Memory(_, wakeups) => Some(Listening::Memory(wakeups.listen(hold))),
        }
    }

    pub(crate) async fn shutdown(&self) {
        match self {
            Self::Memory(..) => {}
        }
    }
}

fn remember(store: &MemoryStore, key: &LockKey, op: &Op) -> Answer {
    let sent_at = BootInstant::now();
    Answer {
        reply: store.apply(key, op),
        sent_at,
        resent: false,
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(..) => f.write_str("Memory"),
        }
    }
}
