//! What a lock guards: a number that is read, and written one higher. It refuses tokens that are smaller than one it has
//! seen, so that nothing is lost, whatever happens to the lock.

use super::Judges;
use super::excuses::Claim;
use crate::engine::Engine;

/// One guarded number.
#[derive(Debug, Clone, Default)]
pub(super) struct Resource {
    value: u64,
    /// The largest token that came.
    fence: u64,
    refused: u64,
}

impl Judges {
    /// Reads; nothing for a token that is too small.
    pub(crate) fn fenced_read(&self, lock: usize, token: u64) -> Option<u64> {
        let mut resources = self.resources.borrow_mut();
        let resource = &mut resources[lock];
        if token < resource.fence {
            resource.refused += 1;
            return None;
        }
        resource.fence = token;
        Some(resource.value)
    }

    /// Writes one more than was read.
    pub(crate) fn fenced_write(&self, engine: &Engine, lock: usize, token: u64, read: u64) {
        let mut resources = self.resources.borrow_mut();
        let resource = &mut resources[lock];
        if token < resource.fence {
            resource.refused += 1;
            return;
        }
        resource.fence = token;
        let of = engine.current();
        let claim = Claim { lock, of, asked: 0 };
        let repeated = self.excuses.borrow().token_excuse(engine, claim);
        let forgotten = self.beliefs.borrow().forgotten.contains_key(&lock);
        if resource.value != read && repeated.is_none() && !forgotten {
            let story = format!(
                "token {token} of lock {lock} read {read}, and would write over {}",
                resource.value
            );
            self.object("fence", engine.now(), story);
        }
        resource.value = read + 1;
    }
}
