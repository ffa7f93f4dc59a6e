//! Masters tell their replicas what has changed, and do not wait for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Node;
use crate::server::data::Effect;
use crate::server::fleet::NodeId;
use crate::server::link::{Changes, LinkItem, Snapshot};

/// How long a replica that has said nothing counts as a good one (`min-replicas-max-lag`).
const GOOD: Duration = Duration::from_secs(10);

/// One server's part in it.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Replication {
    /// Which history of changes this server's data are a part of: a new one with each promotion or empty restart.
    pub(in super::super) history: u64,
    /// How many steps of it the data are.
    pub(in super::super) step: u64,
    /// `None`: this is a master.
    pub(in super::super) following: Option<Following>,
    /// The replicas of this server, and when each last acknowledged it.
    pub(in super::super) replicas: BTreeMap<NodeId, Option<Duration>>,
}

/// A replica's master.
#[derive(Debug, Clone)]
pub(in super::super) struct Following {
    pub(in super::super) master: NodeId,
    /// Whether the data are a part of the master's history.
    pub(in super::super) in_sync: bool,
}

impl Node {
    /// Tells the replicas what the last command has changed, in one step.
    pub(in super::super) fn replicate(&mut self) {
        if !self.effects.is_empty() {
            let effects = std::mem::take(&mut self.effects).into();
            self.send_changes(&effects, 1);
        }
    }

    /// Tells the replicas how far the master is, so that they find out what they have missed.
    pub(in super::super) fn ping_replicas(&mut self) {
        if !self.is_replica() {
            self.send_changes(&Arc::from([]), 0);
        }
    }

    fn send_changes(&mut self, effects: &Arc<[Effect]>, steps: u64) {
        let Replication { history, step, .. } = self.replication;
        self.replication.step += steps;
        let replicas: Vec<NodeId> = self.replication.replicas.keys().copied().collect();
        for replica in replicas {
            let effects = Arc::clone(effects);
            self.send(
                replica,
                LinkItem::Changes(Changes {
                    history,
                    step,
                    effects,
                }),
            );
        }
    }

    /// How many replicas have said lately that they follow.
    pub(in super::super) fn good_replicas(&self) -> usize {
        let is_good =
            |at: &&Option<Duration>| at.is_some_and(|at| self.now.saturating_sub(at) <= GOOD);
        self.replication.replicas.values().filter(is_good).count()
    }

    /// From now on this server follows another.
    pub(in super::super) fn follow(&mut self, master: NodeId) {
        self.replication.replicas.clear();
        self.replication.following = Some(Following {
            master,
            in_sync: false,
        });
        self.send(master, LinkItem::SyncRequest);
    }

    /// What a replica says every second.
    pub(in super::super) fn acknowledge(&mut self) {
        if let Some(Following { master, in_sync }) = self.replication.following.clone() {
            let item = if in_sync {
                LinkItem::Acknowledge
            } else {
                LinkItem::SyncRequest
            };
            self.send(master, item);
        }
    }

    pub(in super::super) fn hear_changes(&mut self, from: NodeId, changes: &Changes) {
        let Replication { history, step, .. } = self.replication;
        let Some(following) = self
            .replication
            .following
            .as_mut()
            .filter(|f| f.master == from)
        else {
            return;
        };
        if following.in_sync && history == changes.history && changes.step < step {
            return; // Known.
        }
        if !following.in_sync {
            return; // It has asked for everything, and asks again every second.
        }
        if history != changes.history || changes.step > step {
            following.in_sync = false;
            self.send(from, LinkItem::SyncRequest);
            return;
        }
        let now = self.millis();
        for effect in &*changes.effects {
            self.data.apply(effect, now);
        }
        self.replication.step += u64::from(!changes.effects.is_empty());
    }

    pub(in super::super) fn hear_snapshot(&mut self, from: NodeId, snapshot: &Snapshot) {
        let Replication { history, step, .. } = self.replication;
        let Some(following) = self
            .replication
            .following
            .as_mut()
            .filter(|f| f.master == from)
        else {
            return;
        };
        if following.in_sync && history == snapshot.history && step >= snapshot.step {
            return;
        }
        following.in_sync = true;
        self.replication.history = snapshot.history;
        self.replication.step = snapshot.step;
        self.data = (*snapshot.data).clone();
        self.acknowledge();
    }

    /// A server wants to follow this one.
    pub(in super::super) fn hear_sync_request(&mut self, from: NodeId) {
        if self.is_replica() {
            return;
        }
        self.replication.replicas.entry(from).or_insert(None);
        let Replication { history, step, .. } = self.replication;
        let data = Arc::new(self.data.clone());
        self.send(
            from,
            LinkItem::Sync(Snapshot {
                history,
                step,
                data,
            }),
        );
    }

    pub(in super::super) fn hear_acknowledge(&mut self, from: NodeId) {
        if let Some(at) = self.replication.replicas.get_mut(&from) {
            *at = Some(self.now);
        }
    }
}
