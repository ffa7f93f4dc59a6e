//! Replicas that become masters.

use std::time::Duration;

use super::Promotion;
use crate::server::config::Flavour;
use crate::server::fleet::{Fleet, NodeId};
use crate::server::node::Replication;

impl Fleet {
    /// A replica becomes the master of its master's slots, in a new epoch. The others (the old master as well) hear of
    /// it by the links that this sends. False if it is dead, asleep or no replica, or the master cannot hand over, or
    /// the replica has never been in step with it.
    pub fn promote(&mut self, now: Duration, replica: NodeId, how: Promotion) -> bool {
        let node = &self.nodes[replica.0];
        let (Some(following), true) = (node.replication.following.clone(), node.is_awake()) else {
            return false;
        };
        let old = following.master;
        if how == Promotion::Coordinated {
            let master = &self.nodes[old.0];
            if !master.is_awake() || master.is_replica() {
                return false;
            }
            // The master refuses writes until the replica has all of them, and has taken over.
            let (data, step) = (master.data.clone(), master.replication.step);
            let node = self.at(now, replica);
            node.data = data;
            node.replication.step = step;
        } else if !following.in_sync {
            return false;
        }
        self.take_over(now, replica, old);
        if how == Promotion::Coordinated {
            // The old master has waited for this: no client finds it in its old role.
            let links: Vec<_> = self.nodes[replica.0].links.clone();
            for link in links.iter().filter(|link| link.to == old) {
                self.deliver(now, link);
            }
        }
        true
    }

    /// Every server tells the others what it is, as it does by itself every few moments.
    pub fn greet_all(&mut self, now: Duration) {
        for node in self.nodes.iter_mut().filter(|node| node.is_awake()) {
            node.now = now;
            node.greet();
        }
    }

    fn take_over(&mut self, now: Duration, replica: NodeId, old: NodeId) {
        // Voters know the latest epoch.
        let latest = self.nodes.iter().filter(|node| node.alive);
        let latest = latest
            .filter_map(|node| node.cluster.as_ref())
            .map(|view| view.epoch)
            .max()
            .unwrap_or(0);
        let history = self.new_history();
        let open = self.nodes[old.0]
            .cluster
            .as_ref()
            .map(|view| (view.migrating.clone(), view.importing.clone()));
        let flavour = self.flavour();
        let node = self.at(now, replica);
        let step = node.replication.step;
        node.replication = Replication {
            history,
            step,
            ..Replication::default()
        };
        let Some(view) = node.cluster.as_mut() else {
            return;
        };
        view.epoch = view.epoch.max(latest);
        view.nodes[replica.0].replica_of = None;
        view.bump();
        let ranges = view.owners.of(old);
        for (first, last) in &ranges {
            view.owners.set(*first, *last, replica);
        }
        if flavour == Flavour::Valkey81
            && let Some((migrating, importing)) = open
        {
            // Valkey replicates which slots are moving.
            (view.migrating, view.importing) = (migrating, importing);
        }
        // Redis 7.0 goes on telling those who listen to it already.
        if flavour != Flavour::Redis70 {
            node.silence_slots(|slot| {
                ranges
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&slot))
            });
        }
        node.greet();
    }
}
