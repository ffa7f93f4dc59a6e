//! Maps by lock key. A key is hashed once, when it is made, with a secret of this process, because names
//! come from users; the maps take that hash as it is.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::LockKey;
use crate::random::Hashing;

/// A map by lock key.
pub(crate) type KeyMap<V> = HashMap<LockKey, V, BuildHasherDefault<KeyHasher>>;

/// The hash of a key's text.
pub(super) fn hash_of(text: &str) -> u64 {
    static SECRET: LazyLock<Hashing> = LazyLock::new(Hashing::default);
    SECRET.hash_one(text)
}

/// Passes on the hash that a key brings.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys write their hash alone; anything else is still hashed, if not well.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
