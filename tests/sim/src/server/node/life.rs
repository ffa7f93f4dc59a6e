//! Starting, ending, sleeping, and what others send.

use std::time::Duration;

use super::{Node, Replication};
use crate::server::fleet::{ConnId, Output};
use crate::server::link::{Link, LinkItem};

/// How often masters and replicas say how far they are.
const PING: Duration = Duration::from_secs(1);

impl Node {
    /// The process ends. What it keeps may be there again at the next start.
    pub(in super::super) fn die(&mut self) {
        self.alive = false;
        self.asleep = false;
        self.failure = None;
        self.inbox.clear();
        self.effects.clear();
        self.channels.clear();
        self.shard_channels.clear();
        for (id, _) in std::mem::take(&mut self.conns) {
            self.out.push((id, Output::Close));
        }
    }

    /// The process starts again; `history` is for what it does from now on.
    pub(in super::super) fn start(&mut self, with_data: bool, history: u64) {
        self.alive = true;
        self.loading = false;
        self.paused = false;
        self.scripts.clear();
        if !with_data {
            self.data.clear();
        }
        match self.replication.following.clone() {
            Some(following) => self.follow(following.master),
            None => {
                self.replication = Replication {
                    history,
                    ..Replication::default()
                };
            }
        }
        if let Some(cluster) = self.cluster.as_mut() {
            cluster.restarted(self.now);
        }
    }

    /// Something comes from another server.
    pub(in super::super) fn hear(&mut self, link: &Link) {
        if !self.alive {
            return;
        }
        if self.asleep {
            self.inbox.push(link.clone());
            return;
        }
        match &link.item {
            LinkItem::Changes(changes) => self.hear_changes(link.from, changes),
            LinkItem::SyncRequest => self.hear_sync_request(link.from),
            LinkItem::Sync(snapshot) => self.hear_snapshot(link.from, snapshot),
            LinkItem::Acknowledge => self.hear_acknowledge(link.from),
            LinkItem::Message(message) => {
                self.tell(&message.channel, &message.text, message.sharded);
            }
            LinkItem::Heartbeat(beat) => self.hear_beat(link.from, beat),
        }
    }

    /// Serves what clients have sent while it slept.
    pub(in super::super) fn serve_all(&mut self) {
        let waiting: Vec<ConnId> = self.conns.keys().copied().collect();
        for conn in waiting {
            self.serve(conn);
        }
    }

    /// Ten times a second.
    pub(in super::super) fn tick(&mut self, now: Duration) {
        self.now = now;
        self.expire_all();
        self.replicate();
        if now >= self.next_ping {
            self.next_ping = now + PING;
            self.ping_replicas();
            self.acknowledge();
        }
        if self.cluster.is_some() {
            self.watch_others();
            if now >= self.next_greeting {
                // Often enough that two of them may be lost.
                self.next_greeting = now + self.config.node_timeout / 4;
                self.greet();
            }
        }
    }
}
