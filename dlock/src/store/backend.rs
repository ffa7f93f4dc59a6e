//! The store that a client uses, and the ear of its waiters: in memory, on Redis, or a quorum.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::endpoint::{site, sites};
use super::redis::{self, RedisStore, ScriptLoad};
use super::{
    Answer, Listener, MemoryStore, Origin, Patience, QuorumStore, Site, Timeouts, Trust, Wakeups,
};
use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::metrics;
use crate::protocol::{ClientId, HoldId, Nonce, Op};
use crate::slot::Slot;
use crate::token::ServerToken;

/// Where a client's locks live. An enum rather than a trait object: a call then costs neither an
/// allocation nor an indirection.
pub(crate) enum Store {
    /// In this process.
    Memory(Arc<MemoryStore>, Arc<Wakeups>),
    /// On Redis.
    Redis(RedisStore),
    /// On most of several stores.
    Quorum(QuorumStore),
}

/// What renewals and releases are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NodeId {
    /// The memory store.
    Memory,
    /// A Redis server.
    Redis(redis::NodeId),
    /// All members of a quorum.
    Quorum,
}

impl Store {
    pub(crate) async fn open(
        url: &str,
        prefix: &str,
        timeouts: Timeouts,
        trust: Trust,
        client: &ClientId,
    ) -> Result<Self, Error> {
        let store = match site(url, prefix, timeouts, trust)? {
            Site::Memory(store) => store,
            Site::Redis(options) => {
                let deadline = Instant::now() + timeouts.retry_for;
                let store = RedisStore::connect(*options, client, deadline).await?;
                return Ok(Self::Redis(store));
            }
        };
        let wakeups = Arc::default();
        store.attach(client, &wakeups);
        Ok(Self::Memory(store, wakeups))
    }

    /// A lock on most of these.
    pub(crate) async fn open_quorum(
        urls: &[String],
        prefix: &str,
        timeouts: Timeouts,
        trust: &Trust,
        client: &ClientId,
    ) -> Result<Self, Error> {
        let sites = sites(urls, prefix, timeouts, trust)?;
        let by = (Instant::now() + timeouts.retry_for, timeouts.connect);
        let store = QuorumStore::open(sites, client, by, timeouts.response).await?;
        Ok(Self::Quorum(store))
    }

    /// For how long a process stays away from a mutex that it has released at the end of its slice, in which it held
    /// the mutex for `held`. Programs that poll are in no queue, so this is their chance.
    pub(crate) fn aside(&self, key: &LockKey, held: Duration) -> Option<Duration> {
        match self {
            Self::Memory(..) => None,
            Self::Redis(store) => store.aside(key, held),
            Self::Quorum(_) => QuorumStore::aside(),
        }
    }

    /// Carries out one operation; tried again until `deadline` while servers fail. It is asked for when that can take any
    /// time: in memory, looks at the clock are a good part of what a call costs.
    pub(crate) async fn call(
        &self,
        key: &LockKey,
        op: &Op,
        deadline: impl FnOnce() -> Instant,
    ) -> Result<Answer, Error> {
        let answer = match self {
            Self::Memory(store, _) => remember(store, key, op),
            Self::Redis(store) => store.call(key, op, deadline()).await?,
            Self::Quorum(store) => Box::pin(store.call(key, op, deadline())).await?,
        };
        metrics::command(op.name(), answer.sent_at);
        Ok(answer)
    }

    /// Whether operations take no time.
    pub(crate) fn is_at_hand(&self) -> bool {
        matches!(self, Self::Memory(..))
    }

    /// Carries out an operation that takes no time, without a future: that of a Redis store is large.
    pub(crate) fn call_at_once(&self, key: &LockKey, op: &Op) -> Option<Answer> {
        let Self::Memory(store, _) = self else {
            return None;
        };
        let answer = remember(store, key, op);
        metrics::command(op.name(), answer.sent_at);
        Some(answer)
    }

    /// Whether a script that finds a lock taken can tell its holder. Some servers let no script publish, or the user may not. An error
    /// for a quorum, whose servers send no messages at all.
    pub(crate) fn tells_holders(&self) -> Result<bool, Error> {
        match self {
            Self::Memory(..) => Ok(true),
            Self::Redis(store) => Ok(store.tells_holders()),
            Self::Quorum(_) => Err(Error::no_linger_in_quorum()),
        }
    }

    /// Where a slot lives now.
    pub(crate) fn node_of(&self, slot: Slot) -> NodeId {
        match self {
            Self::Memory(..) => NodeId::Memory,
            Self::Redis(store) => NodeId::Redis(store.node_of(slot)),
            Self::Quorum(_) => NodeId::Quorum,
        }
    }

    /// By which connection a node is reached now: what was sent by another one need not arrive. `None` where that says nothing.
    pub(crate) fn way_to(&self, node: NodeId) -> Option<u64> {
        match (self, node) {
            (Self::Redis(store), NodeId::Redis(node)) => Some(store.way_to(node)),
            _ => None,
        }
    }

    /// When a waiter looks again that would usually do so after `usual`; `told`: a message wakes it as well.
    pub(crate) fn next_look(
        &self,
        slot: Slot,
        (asked, answered): (Instant, Instant),
        usual: Duration,
        told: bool,
    ) -> Instant {
        match self {
            Self::Redis(store) => store.next_look(slot, (asked, answered), usual, told),
            Self::Memory(..) | Self::Quorum(_) => answered + usual,
        }
    }

    /// How long a waiter that is answered now may pause before it looks again, where that differs.
    pub(crate) fn longest_pause(&self, slot: Slot) -> Option<Duration> {
        match self {
            Self::Redis(store) => store.longest_pause(slot),
            Self::Memory(..) | Self::Quorum(_) => None,
        }
    }

    /// Carries out operations of one node in one go, and tells of each by its place in the batch when it has come to an
    /// end. Failures mean that the outcome is unknown.
    pub(crate) async fn call_batch(
        &self,
        node: NodeId,
        batch: &[(LockKey, Op)],
        patience: impl Into<Patience>,
        mut tell: impl FnMut(usize, Result<Answer, Error>),
    ) {
        let mut tell = |index: usize, answer: Result<Answer, Error>| {
            if let Ok(answer) = &answer {
                metrics::command(batch[index].1.name(), answer.sent_at);
            }
            tell(index, answer);
        };
        match (self, node) {
            (Self::Memory(store, _), _) => {
                for (index, (key, op)) in batch.iter().enumerate() {
                    tell(index, Ok(remember(store, key, op)));
                }
            }
            (Self::Redis(store), NodeId::Redis(node)) => {
                store.call_batch(node, batch, patience, tell).await;
            }
            (Self::Quorum(store), _) => store.call_batch(batch, patience.into().until, tell).await,
            (Self::Redis(_), _) => unreachable!("nodes come from this store"),
        }
    }

    /// Makes sure that a wake-up of this hold is heard. Never fails: at worst waiters poll.
    /// Takes until `until` at most.
    pub(crate) async fn listen(&self, key: &LockKey, hold: &HoldId, until: Instant) -> Listening {
        match self {
            Self::Memory(_, wakeups) => {
                Listening::Memory(wakeups.listen(hold, key.record().into()))
            }
            Self::Redis(store) => Listening::Redis(store.listen(key, hold, until).await),
            Self::Quorum(_) => Listening::Quorum,
        }
    }

    /// Listens if that costs nothing, so that no wake-up can slip in between the first request
    /// and the subscription.
    pub(crate) fn listen_if_subscribed(&self, key: &LockKey, hold: &HoldId) -> Option<Listening> {
        match self {
            // Not before there is something to wait for.
            Self::Memory(..) => None,
            Self::Redis(store) => store.listen_if_subscribed(key, hold).map(Listening::Redis),
            Self::Quorum(_) => Some(Listening::Quorum),
        }
    }

    /// The keys of all locks that start with `stem`.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        match self {
            Self::Memory(store, _) => Ok(store.keys(stem)),
            Self::Redis(store) => store.keys(stem, deadline).await,
            Self::Quorum(store) => store.keys(stem, deadline).await,
        }
    }

    /// What the servers have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        match self {
            Self::Memory(..) => Ok(ScriptLoad::default()),
            Self::Redis(store) => store.script_load(deadline).await,
            Self::Quorum(store) => store.script_load(deadline).await,
        }
    }

    pub(crate) async fn shutdown(&self) {
        match self {
            Self::Memory(..) => {}
            Self::Redis(store) => store.shutdown().await,
            Self::Quorum(store) => store.shutdown().await,
        }
    }
}

fn remember(store: &MemoryStore, key: &LockKey, op: &Op) -> Answer {
    let sent_at = BootInstant::now();
    Answer {
        reply: store.apply(key, op),
        from: MemoryStore::ORIGIN,
        sent_at,
        resent: false,
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(..) => f.write_str("Memory"),
            Self::Redis(store) => store.fmt(f),
            Self::Quorum(store) => store.fmt(f),
        }
    }
}

/// A waiter's ear.
#[derive(Debug)]
#[must_use = "dropping it stops listening"]
pub(crate) enum Listening {
    /// In this process.
    Memory(Listener),
    /// On Redis.
    Redis(redis::Listening),
    /// Servers of a quorum send no wake-ups: a waiter polls again after the pause that the answer names.
    Quorum,
}

impl Listening {
    /// Whether wake-ups can arrive.
    pub(crate) fn is_subscribed(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Redis(listening) => listening.is_subscribed(),
            Self::Quorum => false,
        }
    }

    /// Whether wake-ups can be relied on; otherwise the waiter has to look often.
    pub(crate) fn is_told(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Quorum => true,
            Self::Redis(listening) => listening.is_told(),
        }
    }

    /// Whether the waiter will be woken when wake-ups can arrive.
    pub(crate) fn is_promising(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Quorum => false,
            Self::Redis(listening) => listening.is_promising(),
        }
    }

    /// The lock became free, and a wake-up came, or did not.
    pub(crate) fn note(&self, told: bool) {
        if let Self::Redis(listening) = self {
            listening.note(told);
        }
    }

    /// The server is asked again: what came before counts no more. What the request has to name.
    pub(crate) fn begin(&self) -> Nonce {
        match self {
            Self::Memory(listener) => listener.begin(),
            Self::Redis(listening) => listening.begin(),
            Self::Quorum => Nonce::NOBODY,
        }
    }

    /// The request may be known to two servers: no grant is believed until the next one.
    pub(crate) fn distrust(&self) {
        match self {
            Self::Memory(listener) => listener.distrust(),
            Self::Redis(listening) => listening.distrust(),
            Self::Quorum => {}
        }
    }

    /// Whether a message told this one to look since the last call.
    pub(crate) fn take_called(&self) -> bool {
        match self {
            Self::Memory(listener) => listener.take_called(),
            Self::Redis(listening) => listening.take_called(),
            Self::Quorum => false,
        }
    }

    /// Completes at the next wake-up, or at once if one has come since the last time. The token if
    /// the lock has been passed on.
    pub(crate) async fn woken(&self) -> Option<(ServerToken, Origin)> {
        match self {
            Self::Memory(listener) => listener.woken().await,
            Self::Redis(listening) => listening.woken().await,
            Self::Quorum => std::future::pending().await,
        }
    }
}
