//! Locks that became free without a word.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Instant;
use crate::key::LockKey;
use crate::random::HashMap;

/// For how long that is believed of a lock.
const MEMORY: Duration = Duration::from_secs(5);

/// Locks whose waiters found them free lately without having been told: who releases them may not have the right to publish.
#[derive(Debug, Default)]
pub(super) struct Untold {
    until: Mutex<HashMap<LockKey, Instant>>,
    /// How many there are: mostly none.
    count: AtomicUsize,
}

impl Untold {
    pub(super) fn has(&self, key: &LockKey) -> bool {
        self.count.load(Ordering::Relaxed) > 0
            && (self.until.lock().get(key)).is_some_and(|until| Instant::now() < *until)
    }

    /// The lock became free, and nobody was told.
    pub(super) fn add(&self, key: &LockKey) {
        let mut until = self.until.lock();
        let now = Instant::now();
        until.retain(|_, until| now < *until);
        until.insert(key.clone(), now + MEMORY);
        self.count.store(until.len(), Ordering::Relaxed);
    }

    /// Somebody was told.
    pub(super) fn remove(&self, key: &LockKey) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let mut until = self.until.lock();
            until.remove(key);
            self.count.store(until.len(), Ordering::Relaxed);
        }
    }
}
