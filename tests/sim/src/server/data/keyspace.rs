//! Keys, their values and when they expire.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The fields of a hash, in the order in which they came, which is how servers list those of small ones.
pub(in super::super) type Fields = IndexMap<Vec<u8>, Vec<u8>, FxBuildHasher>;

/// What stands under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Value {
    Text(Vec<u8>),
    Hash(Fields),
}

/// A key's value and expiry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Entry {
    pub(in super::super) value: Value,
    /// In ms of the server's clock.
    pub(in super::super) expires: Option<u64>,
}

impl Entry {
    pub(in super::super) fn is_over(&self, now_millis: u64) -> bool {
        self.expires.is_some_and(|at| now_millis > at)
    }
}

/// All keys of a server.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Keyspace {
    entries: IndexMap<Vec<u8>, Entry, FxBuildHasher>,
}

impl Keyspace {
    pub(in super::super) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(in super::super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut Entry> {
        self.entries.get_mut(key)
    }

    pub(in super::super) fn put(&mut self, key: &[u8], entry: Entry) {
        self.entries.insert(key.to_vec(), entry);
    }

    pub(in super::super) fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        self.entries.swap_remove(key)
    }

    pub(in super::super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(in super::super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (&Vec<u8>, &Entry)> {
        self.entries.iter()
    }
}
