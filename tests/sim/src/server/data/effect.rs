//! Changes of data, as replicas hear of them.

use super::keyspace::{Entry, Fields, Keyspace, Value};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Effect {
    /// A key has this value now.
    Put(Vec<u8>, Entry),
    /// These fields of a hash have these values now.
    Set(Vec<u8>, Vec<(Vec<u8>, Vec<u8>)>),
    /// These fields of a hash are gone.
    Unset(Vec<u8>, Vec<Vec<u8>>),
    /// A key expires then, in ms; `None`: never.
    Expire(Vec<u8>, Option<u64>),
    /// A key lives for so many ms from when that is heard.
    Live(Vec<u8>, u64),
    /// A key is gone.
    Drop(Vec<u8>),
    /// All keys are gone.
    Clear,
}

impl Keyspace {
    /// Makes a change that a master has made, and that is heard at this time.
    pub(in super::super) fn apply(&mut self, effect: &Effect, now_millis: u64) {
        match effect {
            Effect::Put(key, entry) => self.put(key, entry.clone()),
            Effect::Set(key, changes) => {
                if self.get(key).is_none() {
                    let value = Value::Hash(Fields::default());
                    self.put(
                        key,
                        Entry {
                            value,
                            expires: None,
                        },
                    );
                }
                if let Some(Entry {
                    value: Value::Hash(fields),
                    ..
                }) = self.get_mut(key)
                {
                    fields.extend(changes.iter().cloned());
                }
            }
            Effect::Unset(key, gone) => {
                let Some(Entry {
                    value: Value::Hash(fields),
                    ..
                }) = self.get_mut(key)
                else {
                    return;
                };
                for field in gone {
                    fields.shift_remove(field);
                }
                if fields.is_empty() {
                    self.remove(key);
                }
            }
            Effect::Expire(key, at) => {
                if let Some(entry) = self.get_mut(key) {
                    entry.expires = *at;
                }
            }
            Effect::Live(key, span) => {
                if let Some(entry) = self.get_mut(key) {
                    entry.expires = Some(now_millis + span);
                }
            }
            Effect::Drop(key) => {
                self.remove(key);
            }
            Effect::Clear => self.clear(),
        }
    }
}
