//! What a member runs on.

use std::sync::Arc;

use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::Op;
use crate::store::{Answer, MemoryStore, RedisStore, ScriptLoad};

/// A store that answers for itself.
#[derive(Debug)]
pub(super) enum Server {
    /// In this process.
    Memory(Arc<MemoryStore>),
    /// A server, or a cluster.
    Redis(RedisStore),
}

/// Carries out an operation on a store in this process.
pub(super) fn memory_answer(store: &MemoryStore, key: &LockKey, op: &Op) -> Answer {
    let sent_at = BootInstant::now();
    Answer {
        reply: store.apply(key, op),
        from: MemoryStore::ORIGIN,
        sent_at,
        resent: false,
    }
}

impl Server {
    pub(super) async fn keys(&self, stem: &str, until: Instant) -> Result<Vec<String>, Error> {
        match self {
            Self::Memory(store) => Ok(store.keys(stem)),
            Self::Redis(store) => store.keys(stem, until).await,
        }
    }

    pub(super) async fn script_load(&self, until: Instant) -> Result<ScriptLoad, Error> {
        match self {
            Self::Memory(_) => Ok(ScriptLoad::default()),
            Self::Redis(store) => store.script_load(until).await,
        }
    }

    pub(super) async fn shutdown(&self) {
        if let Self::Redis(store) = self {
            store.shutdown().await;
        }
    }
}
