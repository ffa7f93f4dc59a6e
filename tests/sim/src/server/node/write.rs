//! Reading and changing keys, as commands do it: what has expired is not there, and replicas hear of changes.

use super::Node;
use crate::server::config::Flavour;
use crate::server::data::{Effect, Entry, Fields, Value};

/// When a key is to expire, in ms.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Due {
    pub(in super::super) at: u64,
    /// In how long that is, if the command said it so.
    pub(in super::super) span: Option<u64>,
}

impl Node {
    /// A key that has not expired. A master removes one that has.
    pub(in super::super) fn look_up(&mut self, key: &[u8]) -> Option<&Entry> {
        if self.is_over(key) {
            self.expire(key);
            return None;
        }
        self.data.get(key)
    }

    /// Whether a key is there and has not expired; removes nothing.
    pub(in super::super) fn has(&self, key: &[u8]) -> bool {
        let now = self.millis();
        self.data.get(key).is_some_and(|entry| !entry.is_over(now))
    }

    fn is_over(&self, key: &[u8]) -> bool {
        let now = self.millis();
        self.data.get(key).is_some_and(|entry| entry.is_over(now))
    }

    fn expire(&mut self, key: &[u8]) {
        if !self.is_replica() {
            self.drop_key(key);
        }
    }

    /// Removes all keys that have expired.
    pub(in super::super) fn expire_all(&mut self) {
        let now = self.millis();
        let over = |(key, entry): (&Vec<u8>, &Entry)| entry.is_over(now).then(|| key.clone());
        let over: Vec<_> = self.data.iter().filter_map(over).collect();
        for key in over {
            self.expire(&key);
        }
    }

    pub(in super::super) fn put(&mut self, key: &[u8], entry: Entry) {
        self.note(|| Effect::Put(key.to_vec(), entry.clone()));
        self.data.put(key, entry);
    }

    pub(in super::super) fn drop_key(&mut self, key: &[u8]) -> bool {
        let was = self.data.remove(key).is_some();
        if was {
            self.note(|| Effect::Drop(key.to_vec()));
        }
        was
    }

    /// The fields of a hash, to be changed; makes an empty one if there is none. `None` if the key holds something else.
    pub(in super::super) fn fields_of(&mut self, key: &[u8]) -> Option<&mut Fields> {
        if self.look_up(key).is_none() {
            let value = Value::Hash(Fields::default());
            self.data.put(
                key,
                Entry {
                    value,
                    expires: None,
                },
            );
        }
        match &mut self.data.get_mut(key)?.value {
            Value::Hash(fields) => Some(fields),
            Value::Text(_) => None,
        }
    }

    /// A key expires then; `None`: never.
    pub(in super::super) fn expire_at(&mut self, key: &[u8], due: Option<Due>) {
        let old = self.flavour == Flavour::Redis62;
        let Some(entry) = self.data.get_mut(key) else {
            return;
        };
        entry.expires = due.map(|due| due.at);
        let key = || key.to_vec();
        // Replicas of Redis 6.2 hear what the command said, and count by their own clocks.
        match due.and_then(|due| due.span).filter(|_| old) {
            Some(span) => self.note(|| Effect::Live(key(), span)),
            None => self.note(|| Effect::Expire(key(), due.map(|due| due.at))),
        }
    }

    /// Notes a change for those who must hear of it.
    pub(in super::super) fn note(&mut self, effect: impl FnOnce() -> Effect) {
        if !self.replication.replicas.is_empty() {
            self.effects.push(effect());
        }
    }
}
