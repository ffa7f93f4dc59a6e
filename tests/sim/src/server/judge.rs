//! What judges may look at; looking changes nothing.

use std::time::Duration;

use super::data::Value;
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
    /// The subscribers.
    pub conn: ConnId,
    /// To what.
    pub channel: Vec<u8>,
    /// Whether it is a sharded one.
    pub sharded: bool,
}

impl Fleet {
    /// Whether a server runs, asleep or not.
    #[must_use]
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.nodes[node.0].alive
    }

    /// Whether a server sleeps.
    #[must_use]
    pub fn is_asleep(&self, node: NodeId) -> bool {
        self.nodes[node.0].asleep
    }

    /// Whether a server refuses what is asked of it, or will soon.
    #[must_use]
    pub fn refuses(&self, node: NodeId) -> bool {
        let node = &self.nodes[node.0];
        node.full || node.loading || node.failure.is_some()
    }

    /// What a server takes itself for.
    #[must_use]
    pub fn role(&self, node: NodeId) -> Role {
        match &self.nodes[node.0].replication.following {
            None => Role::Master,
            Some(following) => Role::ReplicaOf(following.master),
        }
    }

    /// The master of a slot by the latest epoch, whichever nodes know of it. A single server is it for all.
    #[must_use]
    pub fn owner(&self, slot: u16) -> NodeId {
        let latest = self.claims(slot).max();
        latest.map_or(NodeId(0), |(_, node)| node)
    }

    /// Whether any server takes a slot for its own: two that took one epoch may each take it for the other's.
    #[must_use]
    pub fn is_served(&self, slot: u16) -> bool {
        let single = self.nodes.iter().all(|node| node.cluster.is_none());
        single || self.claims(slot).next().is_some()
    }

    /// Whether a server waits for the rest of a slot, so that what wants two keys of it may be told to come back later.
    #[must_use]
    pub fn is_on_its_way(&self, slot: u16) -> bool {
        let mut views = self.nodes.iter().filter_map(|node| node.cluster.as_ref());
        views.any(|view| view.importing.contains_key(&slot))
    }

    /// Whether a server takes itself for a master although others have its slots by later epochs.
    #[must_use]
    pub fn is_deposed(&self, node: NodeId) -> bool {
        self.nodes[node.0].cluster.as_ref().is_some_and(|view| {
            let own = (0..16_384).filter(|slot| view.owners.owner(*slot) == node);
            let own: Vec<u16> = own.collect();
            // One slot alone may be on its way to another node.
            own.len() > 1 && own.iter().all(|slot| self.owner(*slot) != node)
        })
    }

    /// The masters that take a slot for their own, with their epochs.
    fn claims(&self, slot: u16) -> impl Iterator<Item = (u64, NodeId)> {
        let masters = self.nodes.iter().filter(|node| !node.is_replica());
        masters.filter_map(move |node| {
            let view = node.cluster.as_ref()?;
            (view.owners.owner(slot) == node.id).then(|| (view.peer(node.id).epoch, node.id))
        })
    }

    /// Whether no other server knows of a later epoch; what this one takes next cannot be claimed by another one as well.
    #[must_use]
    pub fn has_heard_of_the_latest_epoch(&self, node: NodeId) -> bool {
        let latest = |node: &super::node::Node| node.cluster.as_ref().map(|view| view.epoch);
        let alive = self.nodes.iter().filter(|node| node.alive);
        alive.filter_map(latest).max() <= latest(&self.nodes[node.0])
    }

    /// The slot of a key.
    #[must_use]
    pub fn slot_of(key: &[u8]) -> u16 {
        super::cluster::slot_of(key)
    }

    /// What a server's clock shows.
    #[must_use]
    pub fn server_micros(&self, now: Duration, node: NodeId) -> u64 {
        self.nodes[node.0].clock.micros(now)
    }

    /// The fields of a hash at a server, also of one that has expired and not been removed yet.
    #[must_use]
    pub fn lock_fields(
        &self,
        node: NodeId,
        key: &[u8],
    ) -> Option<impl Iterator<Item = (&[u8], &[u8])>> {
        match &self.nodes[node.0].data.get(key)?.value {
            Value::Hash(fields) => Some(fields.iter().map(|(field, value)| (&**field, &**value))),
            Value::Text(_) => None,
        }
    }

    /// The same, to keep.
    #[must_use]
    pub fn lock_hash(&self, node: NodeId, key: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
        let fields = self.lock_fields(node, key)?;
        Some(
            fields
                .map(|(field, value)| (field.to_vec(), value.to_vec()))
                .collect(),
        )
    }

    /// One field of such a hash.
    #[must_use]
    pub fn lock_field(&self, node: NodeId, key: &[u8], field: &[u8]) -> Option<&[u8]> {
        match &self.nodes[node.0].data.get(key)?.value {
            Value::Hash(fields) => fields.get(field).map(Vec::as_slice),
            Value::Text(_) => None,
        }
    }

    /// A text at a server, and when it expires, also if that has been.
    #[must_use]
    pub fn text(&self, node: NodeId, key: &[u8]) -> Option<(&[u8], Option<u64>)> {
        let entry = self.nodes[node.0].data.get(key)?;
        match &entry.value {
            Value::Text(text) => Some((text, entry.expires)),
            Value::Hash(_) => None,
        }
    }

    /// When a key expires by its server's clock (in ms): `None` if it is not there, `Some(None)` if never.
    #[must_use]
    pub fn expires_at(&self, node: NodeId, key: &[u8]) -> Option<Option<u64>> {
        self.nodes[node.0].data.get(key).map(|entry| entry.expires)
    }

    /// All keys of a server that have not expired.
    #[must_use]
    pub fn keys(&self, now: Duration, node: NodeId) -> Vec<Vec<u8>> {
        let millis = self.server_micros(now, node) / 1000;
        let live = self.nodes[node.0]
            .data
            .iter()
            .filter(|(_, entry)| !entry.is_over(millis));
        live.map(|(key, _)| key.clone()).collect()
    }

    /// The subscribers of a server, and their channels.
    #[must_use]
    pub fn subscriptions(&self, node: NodeId) -> Vec<Subscription> {
        let node = &self.nodes[node.0];
        let kinds = [(&node.channels, false), (&node.shard_channels, true)];
        let all = kinds.into_iter().flat_map(|(listeners, sharded)| {
            listeners.iter().flat_map(move |(channel, conns)| {
                let one = move |conn: &ConnId| Subscription {
                    conn: *conn,
                    channel: channel.clone(),
                    sharded,
                };
                conns.iter().map(one)
            })
        });
        all.collect()
    }

    /// How many changes of its master a replica has not heard of; of another history all of them.
    #[must_use]
    pub fn replication_lag(&self, replica: NodeId) -> u64 {
        let own = &self.nodes[replica.0].replication;
        let Some(following) = &own.following else {
            return 0;
        };
        let master = &self.nodes[following.master.0].replication;
        let known = if following.in_sync && own.history == master.history {
            own.step
        } else {
            0
        };
        master.step.saturating_sub(known)
    }
}
