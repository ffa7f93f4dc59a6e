//! What a server keeps. Used by commands, by replication and by the operator's hands in `admin`.

mod effect;
mod keyspace;

pub(super) use self::effect::Effect;
pub(super) use self::keyspace::{Entry, Fields, Keyspace, Value};
