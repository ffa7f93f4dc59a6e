//! The store: locks by key, clients to wake, the clock they live by; and stores that several clients find by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::lock::Post;
use super::shard::Shard;
use crate::key::LockKey;
use crate::protocol::{ClientId, Message, Op, Reply};
use crate::store::{Origin, Wakeups};

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
    /// There is only one server.
    pub(crate) const ORIGIN: Origin = Origin::of(0);

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

    /// Remembers locks for so many microseconds longer than it must, as servers may, for tests.
    #[must_use]
    pub fn remembering_longer(self, slack: u64) -> Self {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.remember_longer(slack);
        }
        self
    }

    /// The store that all clients of this process find under this name.
    #[must_use]
    pub fn named(name: &str) -> Arc<Self> {
        named(name)
    }

    /// Has this store found under a name, for tests.
    #[must_use]
    pub fn under(self, name: &str) -> Arc<Self> {
        call(name, self)
    }

    /// Wakes the waiters of this client from now on, for as long as it keeps `wakeups`.
    pub fn attach(&self, client: &ClientId, wakeups: &Arc<Wakeups>) {
        let mut clients = self.clients.write();
        clients.retain(|_, wakeups| wakeups.strong_count() > 0);
        clients.insert(client.clone(), Arc::downgrade(wakeups));
    }

    /// Carries out one operation and wakes those it lets in. Requests are never late here.
    pub fn apply(&self, key: &LockKey, op: &Op) -> Reply {
        let valid_until = match op {
            Op::Acquire { .. } => u64::MAX,
            _ => 0,
        };
        let mut deliver = |message: &Message| self.deliver(key, message);
        self.decide(key, op, valid_until, &mut Post::new(&mut deliver))
    }

    /// Carries out one operation as a server does: an acquire has an effect until `valid_until` only, in microseconds,
    /// which is also how long one that may still come is ignored once its outcome is settled.
    pub fn decide(&self, key: &LockKey, op: &Op, valid_until: u64, post: &mut Post<'_>) -> Reply {
        let mut shard = self.shard(key);
        let time = self.clock.micros();
        shard.apply(key, op, valid_until, time, post)
    }

    /// What another program does to a mutex: takes it if it is free, for so long or for ever. Whether it has it now.
    pub fn take(&self, key: &LockKey, value: &str, lease: Option<Duration>) -> bool {
        let mut shard = self.shard(key);
        let time = self.clock.micros();
        let taken = shard.mutex(key, |mutex| mutex.take(value, lease, time));
        taken.unwrap_or(false)
    }

    /// What another program does to a mutex: frees it if that is its value. Whether it was.
    pub fn free(&self, key: &LockKey, value: &str) -> bool {
        let mut shard = self.shard(key);
        let time = self.clock.micros();
        let freed = shard.mutex(key, |mutex| mutex.free(value, time));
        freed.unwrap_or(false)
    }

    /// The holder of a mutex: its value, and the rest of its time in milliseconds, if it ends.
    pub fn holder(&self, key: &LockKey) -> Option<(String, Option<u64>)> {
        let mut shard = self.shard(key);
        let time = self.clock.micros();
        shard.mutex(key, |mutex| mutex.holder(time)).flatten()
    }

    /// The free windows of a mutex, for tests: the end of the last one, since when it was handed over without one, and when a
    /// program without dlock was last seen to have it.
    #[must_use]
    pub fn moments(&self, key: &LockKey) -> [Option<u64>; 3] {
        let moments = self.shard(key).mutex(key, |mutex| mutex.moments());
        moments.unwrap_or_default()
    }

    /// The lock's time now, in microseconds, and until when the server remembers the lock, for tests.
    #[must_use]
    pub fn times(&self, key: &LockKey) -> (u64, u64) {
        let time = self.clock.micros();
        self.shard(key).times(key, time)
    }

    /// The keys of all locks that start with `stem`.
    #[must_use]
    pub fn keys(&self, stem: &str) -> Vec<String> {
        let time = self.clock.micros();
        let mut keys = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
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
        self.shards[usize::from(key.slot().as_u16()) % SHARDS].lock()
    }

    /// Wakes a waiter; whether it listens.
    fn deliver(&self, key: &LockKey, message: &Message) -> bool {
        let clients = self.clients.read();
        let wakeups = clients.get(message.hold().client()).and_then(Weak::upgrade);
        drop(clients);
        wakeups.is_some_and(|wakeups| wakeups.tell(key.record(), message, Self::ORIGIN))
    }
}

/// Tells a store the time, as Redis's `TIME` does. It may step back; locks take care of that.
pub trait ServerClock: fmt::Debug + Send + Sync {
    /// Microseconds since the epoch.
    fn micros(&self) -> u64;
}

/// The machine's wall clock.
#[derive(Debug)]
pub(super) struct WallClock;

impl ServerClock for WallClock {
    fn micros(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
            })
    }
}

static STORES: LazyLock<Mutex<HashMap<String, Weak<MemoryStore>>>> = LazyLock::new(Mutex::default);

/// The store of this name; made at the first call, and again after its last user has dropped it.
pub(super) fn named(name: &str) -> Arc<MemoryStore> {
    let mut stores = STORES.lock();
    if let Some(store) = stores.get(name).and_then(Weak::upgrade) {
        return store;
    }
    stores.retain(|_, store| store.strong_count() > 0);
    let store = Arc::new(MemoryStore::new());
    stores.insert(name.to_owned(), Arc::downgrade(&store));
    store
}

/// From now on this is the store of this name, for as long as it is in use.
pub(super) fn call(name: &str, store: MemoryStore) -> Arc<MemoryStore> {
    let store = Arc::new(store);
    STORES
        .lock()
        .insert(name.to_owned(), Arc::downgrade(&store));
    store
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::named;

    #[test]
    fn a_name_means_one_store() {
        let (a, b, other) = (named("a"), named("a"), named("other"));
        assert!(Arc::ptr_eq(&a, &b));
        assert!(!Arc::ptr_eq(&a, &other));
    }
}
