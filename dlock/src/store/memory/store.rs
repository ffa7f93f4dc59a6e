//! The store: locks by key, clients to wake.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use super::clock::{ServerClock, WallClock};
use super::named::named;
use super::shard::Shard;
use crate::key::LockKey;
use crate::protocol::{ClientId, Message, Op, Reply};
use crate::store::Wakeups;

const SHARDS: usize = 64;

/// Keeps locks in memory. Clients of one process may share it.
#[derive(Debug)]
pub struct MemoryStore {
    clock: Box<dyn ServerClock>,
    shards: Box<[Mutex<Shard>]>,
    clients: RwLock<HashMap<ClientId, Weak<Wakeups>>>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store that lives by the machine's wall clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(WallClock)
    }

    /// An empty store that lives by the given clock.
    #[must_use]
    pub fn with_clock(clock: impl ServerClock + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            clients: RwLock::default(),
        }
    }

    /// The store that everybody in this process finds under this name.
    #[must_use]
    pub fn named(name: &str) -> Arc<Self> {
        named(name)
    }

    /// Wakes the waiters of this client from now on, for as long as it keeps `wakeups`.
    pub fn attach(&self, client: &ClientId, wakeups: &Arc<Wakeups>) {
        let mut clients = self.clients.write().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, wakeups| wakeups.strong_count() > 0);
        clients.insert(client.clone(), Arc::downgrade(wakeups));
    }

    /// Carries out one operation and wakes those it lets in.
    pub fn apply(&self, key: &LockKey, op: &Op) -> Reply {
        let (reply, messages) = self.decide(key, op);
        for message in &messages {
            self.deliver(message);
        }
        reply
    }

    /// Carries out one operation; what it tells those whom it lets in is left to the caller.
    pub fn decide(&self, key: &LockKey, op: &Op) -> (Reply, Vec<Message>) {
        let mut shard = self.shard(key);
        let time = self.clock.micros();
        shard.apply(key, op, time)
    }

    /// The keys of all locks that start with `stem`.
    #[must_use]
    pub fn keys(&self, stem: &str) -> Vec<String> {
        let time = self.clock.micros();
        let mut keys = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            keys.extend(
                shard
                    .keys(time)
                    .filter(|key| key.starts_with(stem))
                    .map(str::to_owned),
            );
        }
        keys
    }

    fn shard(&self, key: &LockKey) -> MutexGuard<'_, Shard> {
        self.shards[usize::from(key.slot().as_u16()) % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, message: &Message) {
        let clients = self.clients.read().unwrap_or_else(PoisonError::into_inner);
        let wakeups = clients.get(message.hold().client()).and_then(Weak::upgrade);
        drop(clients);
        if let Some(wakeups) = wakeups {
            wakeups.tell(message);
        }
    }
}
