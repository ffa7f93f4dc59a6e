//! Redis: one server or a cluster, by routing of our own.
//!
//! [`RedisStore::call`] sends an operation to the node that serves the lock's slot, over the one
//! connection that all tasks share, and sees to redirects, lost connections and failovers until the caller's
//! deadline. Every operation may be sent twice, which makes that simple.

mod address;
mod backoff;
mod batch;
mod bootstrap;
mod connect;
mod connection;
mod core;
mod crowds;
mod dial;
mod env;
mod failure;
mod gather;
mod node;
mod options;
mod parts;
mod probe;
mod pubsub;
mod refresher;
mod route;
mod server_time;
mod stats;
mod survey;
mod tasks;
mod topology;
mod url;
mod walk;
mod wire;

use std::sync::Arc;

use tokio::time::Instant;

use self::core::Core;
use self::probe::probe;
use super::Answer;
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId, Nonce, Op};
use crate::slot::Slot;

pub use node::NodeId;
pub use options::{Password, RedisOptions};
pub use pubsub::Listening;
pub use stats::{Counter, RedisStats};
pub(super) use url::read_url;
pub use walk::ScriptLoad;
pub use wire::{Script, decode, encode, encode_plain, source};

/// Locks on Redis.
#[derive(Debug)]
pub struct RedisStore {
    core: Arc<Core>,
}

impl RedisStore {
    /// Finds out what the seeds are, and whether this user may do what locks need.
    ///
    /// # Errors
    /// `Unauthorized` for a wrong password or a missing right, `InvalidConfig` for seeds that cannot
    /// work, `Unavailable` when nobody can serve by `deadline`.
    pub async fn connect(
        options: RedisOptions,
        client: &ClientId,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let core = Core::start(options, client, deadline).await?;
        // From here on, dropping it ends its tasks.
        let store = Self { core };
        let mode = probe(&store.core, deadline).await?;
        store.core.env.publish.set(mode);
        Ok(store)
    }

    /// Carries out an operation on a lock.
    ///
    /// # Errors
    /// Whatever kept it from being carried out by `deadline`.
    pub async fn call(&self, key: &LockKey, op: &Op, deadline: Instant) -> Result<Answer, Error> {
        self.core.call(key, op, deadline).await
    }

    /// The node that serves a slot now, as far as this client knows.
    #[must_use]
    pub fn node_of(&self, slot: Slot) -> NodeId {
        self.core.node_of(slot)
    }

    /// Carries out operations on locks of one node in one pipeline, each tried once; those that the node sends
    /// elsewhere are followed there.
    ///
    /// In the order of the batch. An error says that the outcome is unknown, or why the operation can never
    /// work; it never means that a hold is lost.
    pub async fn call_batch(
        &self,
        node: NodeId,
        batch: &[(LockKey, Op)],
        deadline: Instant,
    ) -> Vec<Result<Answer, Error>> {
        self.core.call_batch(node, batch, deadline).await
    }

    /// Makes sure that a wake-up of this hold is heard; takes until `until` or the response timeout at
    /// most, and then goes on in the background.
    pub async fn listen(
        &self,
        key: &LockKey,
        hold: &HoldId,
        nonce: Nonce,
        until: Instant,
    ) -> Listening {
        let until = until.min(Instant::now() + self.core.env.options.response_timeout);
        self.core.pubsub.listen(key, hold, nonce, until).await
    }

    /// Listens if the channel is live already, which costs nothing.
    #[must_use]
    pub fn listen_if_subscribed(
        &self,
        key: &LockKey,
        hold: &HoldId,
        nonce: Nonce,
    ) -> Option<Listening> {
        self.core.pubsub.listen_if_subscribed(key, hold, nonce)
    }

    /// How scripts wake waiters: see [`encode`].
    #[must_use]
    pub fn publishing(&self) -> &'static str {
        self.core.publishing()
    }

    /// What happened so far.
    #[must_use]
    pub fn stats(&self) -> &RedisStats {
        &self.core.env.stats
    }

    /// Ends the background tasks and closes the connections. What is under way gets its answer.
    #[expect(
        clippy::unused_async,
        reason = "stores on other servers may have to wait"
    )]
    pub async fn shutdown(&self) {
        self.core.close();
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.core.close();
    }
}
