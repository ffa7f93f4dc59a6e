//! What judges may look at; looking changes nothing.

use std::time::Duration;

use super::fleet::{ConnId, Fleet, NodeId};

/// What a server takes itself for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It serves.
    Master,
    /// It follows another.
    ReplicaOf(NodeId),
}

/// A channel to which a connection listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Who listens.
    pub conn: ConnId,
    /// To what.
    pub channel: Vec<u8>,
    /// Whether it is a sharded one.
    pub sharded: bool,
}

impl Fleet {
    /// Whether a server runs, asleep or not.
    #[must_use]
    pub fn is_alive(&self, _node: NodeId) -> bool {
        unimplemented!()
    }

    /// Whether a server sleeps.
    #[must_use]
    pub fn is_asleep(&self, _node: NodeId) -> bool {
        unimplemented!()
    }

    /// What a server takes itself for.
    #[must_use]
    pub fn role(&self, _node: NodeId) -> Role {
        unimplemented!()
    }

    /// The master of a slot by the latest epoch, whoever has heard of it.
    #[must_use]
    pub fn owner(&self, _slot: u16) -> NodeId {
        unimplemented!()
    }

    /// What a server's clock shows.
    #[must_use]
    pub fn server_micros(&self, _now: Duration, _node: NodeId) -> u64 {
        unimplemented!()
    }

    /// The fields of a hash at a server, also of one that has expired and not been removed yet.
    #[must_use]
    pub fn lock_hash(&self, _node: NodeId, _key: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
        unimplemented!()
    }

    /// When a key expires by its server's clock (in ms): `None` if it is not there, `Some(None)` if never.
    #[must_use]
    pub fn expires_at(&self, _node: NodeId, _key: &[u8]) -> Option<Option<u64>> {
        unimplemented!()
    }

    /// All keys of a server that have not expired.
    #[must_use]
    pub fn keys(&self, _now: Duration, _node: NodeId) -> Vec<Vec<u8>> {
        unimplemented!()
    }

    /// Those of them that never expire.
    #[must_use]
    pub fn keys_without_expiry(&self, _node: NodeId) -> Vec<Vec<u8>> {
        unimplemented!()
    }

    /// Who listens to what at a server.
    #[must_use]
    pub fn subscriptions(&self, _node: NodeId) -> Vec<Subscription> {
        unimplemented!()
    }

    /// How many changes of its master a replica has not heard of.
    #[must_use]
    pub fn replication_lag(&self, _replica: NodeId) -> u64 {
        unimplemented!()
    }
}
