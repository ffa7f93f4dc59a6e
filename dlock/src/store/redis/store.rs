//! The store: the rooms, put together.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::call::{Caller, Link, ask_who_it_is, probe};
use super::env::{Env, RedisOptions, RedisStats};
use super::node::{Node, NodeId};
use super::pubsub::{Listening, PubSub};
use super::topology::Servers;
use super::wire::{PublishMode, ScriptLoad};
use crate::clock::Instant;
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId, Op};
use crate::slot::Slot;
use crate::store::{Answer, Patience};
use crate::trace::unheard;

/// Locks on Redis.
#[derive(Debug)]
pub struct RedisStore {
    env: Arc<Env>,
    servers: Arc<Servers>,
    caller: Arc<Caller>,
    pubsub: Arc<PubSub>,
}

impl RedisStore {
    /// Finds out what the seeds are, and whether this user may do what locks need.
    ///
    /// # Errors
    /// `Unauthorized` for a wrong password or a missing right, `InvalidConfig` for seeds that cannot
    /// work, `Unavailable` when no server can be used by `deadline`.
    pub async fn connect(
        options: RedisOptions,
        client: &ClientId,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let env = Arc::new(Env::new(options, client));
        // What cannot be read is said now, and not by each connection.
        #[cfg(feature = "tls")]
        if env.options.tls {
            env.certificates.current(deadline).await?;
        }
        let servers = Servers::find(&env, deadline).await?;
        // From here on, dropping it ends its tasks.
        let store = Self {
            caller: Arc::new(Caller::new(&env, &servers)),
            pubsub: PubSub::new(&env, &servers),
            env,
            servers,
        };
        let pubsub = Arc::clone(&store.pubsub);
        store.servers.keep(move || pubsub.topology_changed());
        let mode = probe(&store.caller, deadline).await?;
        store.env.publish.set(mode);
        if mode != PublishMode::Sharded && store.env.known.sharded.get() == Some(&true) {
            unheard(store.env.options.user());
        }
        Ok(store)
    }

    /// For how long to stay away from a mutex that this process has had for so long, from task to task.
    pub(crate) fn aside(&self, key: &LockKey, held: Duration) -> Option<Duration> {
        self.caller.aside(key, held)
    }

    /// Carries out an operation on a lock.
    ///
    /// # Errors
    /// Whatever kept it from being carried out by `deadline`.
    pub async fn call(&self, key: &LockKey, op: &Op, deadline: Instant) -> Result<Answer, Error> {
        self.caller.call(key, op, deadline).await
    }

    /// The node that serves a slot now, as far as this client knows.
    #[must_use]
    pub fn node_of(&self, slot: Slot) -> NodeId {
        self.servers.node_of(slot)
    }

    /// The connection to a node there is now, by a number that no other connection of this store has; never 0.
    pub(crate) fn way_to(&self, node: NodeId) -> u64 {
        let topology = self.servers.now();
        let serial = topology.by_id(node).and_then(|node| node.serial());
        node.connection(serial.unwrap_or(0))
    }

    /// When a waiter looks again that would usually do so after `usual`; `told`: a message wakes it as well. The waiters of
    /// a client share a pace at each server.
    ///
    /// A pause counts from when the waiter asked, unless the answer took too long for that. If it counted from the answer,
    /// waiters that a busy server answers late would from then on ask together.
    pub(crate) fn next_look(
        &self,
        slot: Slot,
        (asked, answered): (Instant, Instant),
        usual: Duration,
        told: bool,
    ) -> Instant {
        let topology = self.servers.now();
        let node = topology.node(slot);
        let next = |from| {
            node.map_or(from + usual, |node| {
                node.budget.next_look(from, usual, told)
            })
        };
        Some(next(asked))
            .filter(|next| *next >= answered + usual / 2)
            .unwrap_or_else(|| next(answered))
    }

    /// How long a waiter that is answered now may pause before it looks again, where that is known.
    pub(crate) fn longest_pause(&self, slot: Slot) -> Option<Duration> {
        let topology = self.servers.now();
        Some(topology.node(slot)?.budget.longest_pause())
    }

    /// Carries out operations on locks of one node in one pipeline, each tried once; those that the node sends
    /// elsewhere are followed there.
    ///
    /// Tells of each by its place in the batch as soon as its answer is there. An error says that the outcome is unknown,
    /// or why the operation can never work; it never means that a hold is lost.
    pub async fn call_batch(
        &self,
        node: NodeId,
        batch: &[(LockKey, Op)],
        patience: impl Into<Patience>,
        tell: impl FnMut(usize, Result<Answer, Error>),
    ) {
        let patience = patience.into();
        self.caller.call_batch(node, batch, patience, tell).await;
    }

    /// Makes sure that a wake-up of this hold is heard; takes until `until` or the response timeout at
    /// most, and then goes on in the background.
    pub async fn listen(&self, key: &LockKey, hold: &HoldId, until: Instant) -> Listening {
        let until = until.min(Instant::now() + self.env.options.response_timeout);
        self.pubsub.listen(key, hold, until).await
    }

    /// Listens if the channel is live already, which costs nothing.
    #[must_use]
    pub fn listen_if_subscribed(&self, key: &LockKey, hold: &HoldId) -> Option<Listening> {
        self.pubsub.listen_if_subscribed(key, hold)
    }

    /// The connection that requests about a slot take now, if there is one.
    pub(crate) fn link(&self, slot: Slot) -> Option<Link> {
        self.caller.link(slot)
    }

    /// What tells the server of a slot from others, and the connection that says so.
    pub(crate) async fn identify(
        &self,
        slot: Slot,
        deadline: Instant,
    ) -> Result<(Link, Vec<String>), Error> {
        self.caller.identify(slot, deadline).await
    }

    /// What tells the servers at the addresses of a URL from others, whatever their roles: those that can be reached.
    pub(crate) async fn identify_seeds(
        options: RedisOptions,
        client: &ClientId,
        deadline: Instant,
    ) -> Vec<(NodeId, Vec<String>)> {
        let env = Arc::new(Env::new(options, client));
        #[cfg(feature = "tls")]
        if env.options.tls && env.certificates.current(deadline).await.is_err() {
            return Vec::new();
        }
        let seeds = env.options.addresses().into_iter();
        let nodes: Vec<_> = seeds.map(|seed| Node::new(seed, &env)).collect();
        let asked = nodes.iter().map(|node| ask_who_it_is(node, deadline));
        let answers = join_all(asked).await.into_iter().flatten();
        let found = answers.map(|(link, marks)| (link.node, marks)).collect();
        env.tasks.close();
        for node in &nodes {
            node.close();
        }
        found
    }

    /// The identities of all masters.
    pub(crate) async fn identify_all(
        &self,
        deadline: Instant,
    ) -> Vec<Result<(Link, Vec<String>), Error>> {
        self.caller.identify_all(deadline).await
    }

    /// The keys of all hashes that start with `stem`.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        self.caller.keys(stem, deadline).await
    }

    /// What all masters together have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        self.caller.script_load(deadline).await
    }

    /// How scripts wake waiters: see [`encode`](super::encode).
    #[must_use]
    pub fn publishing(&self) -> &'static str {
        self.caller.publishing()
    }

    /// Whether a script that finds a lock taken can tell its holder.
    pub(crate) fn tells_holders(&self) -> bool {
        self.env.publish.is_left_to_scripts()
    }

    /// What happened so far.
    #[must_use]
    pub fn stats(&self) -> &RedisStats {
        &self.env.stats
    }

    /// Ends the background tasks and closes the connections. Requests under way get their answers.
    #[expect(
        clippy::unused_async,
        reason = "stores on other servers may have to wait"
    )]
    pub async fn shutdown(&self) {
        self.close();
    }

    fn close(&self) {
        self.env.tasks.close();
        self.servers.close();
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.close();
    }
}
