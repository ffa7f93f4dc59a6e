//! Hearing wake-ups.
//!
//! Each lock has a channel per client; a script publishes the id of the hold that should look again. A
//! channel is subscribed at the node that serves the lock's slot, on a connection of its own
//! ([`mod@line`]), and stays subscribed for a while after its last listener. Messages get lost when a connection or
//! a slot does: then the channel is subscribed again, and its listeners are told to look.

mod channel;
mod channels;
mod keeper;
mod line;
mod link;
mod listening;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use self::channel::Name;
use self::channels::Channels;
use self::line::{Job, Line};
use super::env::Env;
use super::node::{Node, NodeId};
use super::topology::Topology;
use super::wire::PublishMode;
use crate::key::LockKey;
use crate::protocol::{HoldId, Nonce};
use crate::slot::Slot;
use crate::store::Wakeups;

pub use listening::Listening;

/// The pub/sub side of a store.
pub(super) struct PubSub {
    env: Arc<Env>,
    topology: Arc<ArcSwap<Topology>>,
    wakeups: Arc<Wakeups>,
    channels: Channels,
    lines: Mutex<HashMap<NodeId, Arc<Line>>>,
    /// Tells the keeper to look now.
    nudge: Notify,
}

impl PubSub {
    pub(super) fn new(env: &Arc<Env>, topology: &Arc<ArcSwap<Topology>>) -> Arc<Self> {
        let pubsub = Arc::new(Self {
            env: Arc::clone(env),
            topology: Arc::clone(topology),
            wakeups: Arc::default(),
            channels: Channels::default(),
            lines: Mutex::default(),
            nudge: Notify::new(),
        });
        env.tasks.spawn(keeper::keep(Arc::clone(&pubsub)));
        pubsub
    }

    /// Listens, and waits for the channel to be live: until then at most, or until that fails.
    pub(super) async fn listen(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
        nonce: Nonce,
        until: Instant,
    ) -> Listening {
        let name = self.channel_of(key);
        if self.env.publish.get() == PublishMode::Off {
            return Listening::deaf(self.wakeups.listen(hold, name, nonce));
        }
        // From here on, dropping this future takes everything back.
        let listening = Listening::new(self, &name, hold, nonce);
        let joined = self.channels.join(&name, key.slot(), hold);
        if joined.is_new {
            self.subscribe(&name, key.slot());
            self.nudge.notify_one();
        }
        let settled = async {
            loop {
                let changed = joined.changed.notified();
                if !self.channels.is_pending(&name) {
                    return;
                }
                changed.await;
            }
        };
        if timeout_at(until, settled).await.is_err() {
            self.channels.give_up(&name);
        }
        listening
    }

    /// Listens if the channel is live already.
    pub(super) fn listen_if_subscribed(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
        nonce: Nonce,
    ) -> Option<Listening> {
        if self.channels.is_empty() {
            return None;
        }
        let name = self.channel_of(key);
        self.channels
            .join_if_live(&name, hold)
            .then(|| Listening::new(self, &name, hold, nonce))
    }

    /// Subscribes channels again whose slots have moved.
    pub(super) fn topology_changed(&self) {
        let topology = self.topology.load_full();
        let owner = |slot| topology.node(slot).map(|node| node.id());
        for (name, node, link) in self.channels.lose_moved(owner) {
            self.job(node, Job::Unsubscribe(name, link));
        }
        let known = |id: &NodeId| topology.by_id(*id).is_some();
        self.lines().retain(|id, line| {
            let stays = known(id);
            if !stays {
                line.close();
            }
            stays
        });
        self.nudge.notify_one();
    }

    /// Has a channel subscribed by the node that owns its slot now.
    fn subscribe(self: &Arc<Self>, name: &Name, slot: Slot) {
        let owner = self.topology.load().node(slot).cloned();
        match owner {
            Some(owner) => self.line(&owner).push(Job::Subscribe(Arc::clone(name))),
            None => self.channels.fail(name),
        }
    }

    fn job(&self, node: NodeId, job: Job) {
        if let Some(line) = self.lines().get(&node) {
            line.push(job);
        }
    }

    fn line(self: &Arc<Self>, node: &Arc<Node>) -> Arc<Line> {
        let mut lines = self.lines();
        let line = lines.entry(node.id()).or_insert_with(|| {
            let line = Arc::new(Line::default());
            let task = line::run(Arc::clone(self), Arc::clone(node), Arc::clone(&line));
            self.env.tasks.spawn(task);
            line
        });
        Arc::clone(line)
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, HashMap<NodeId, Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn channel_of(&self, key: &LockKey) -> Name {
        let (prefix, tagged, client) = (key.prefix(), key.tagged(), self.env.client.as_str());
        [prefix, "~c:", tagged, ":", client].concat().into()
    }

    fn wake(&self, holds: impl IntoIterator<Item = HoldId>) {
        for hold in holds {
            self.wakeups.wake(&hold);
        }
    }
}

impl fmt::Debug for PubSub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PubSub")
            .field("mode", &self.env.publish.get())
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}
