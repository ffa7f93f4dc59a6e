//! One server: what it keeps, who is connected to it, what it knows of the others. `fleet` brings it its clients' bytes
//! and others' messages; `admin` does to it what operators and misfortune do.

mod clock;
mod conn;
mod input;
mod life;
mod messages;
mod replication;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

pub(super) use self::clock::NodeClock;
pub(super) use self::conn::Conn;
pub(super) use self::replication::{Following, Replication};
pub(super) use self::write::Due;
use super::admin::FailKind;
use super::cluster::View;
use super::config::{Flavour, FleetConfig};
use super::data::{Effect, Keyspace};
use super::fleet::{ConnId, NodeId, Output};
use super::link::{Link, LinkItem};
use super::resp::Reply;
use super::script::Script;

/// The subscribers and their channels.
pub(super) type Listeners = IndexMap<Vec<u8>, Vec<ConnId>, FxBuildHasher>;

/// One server.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a condition of its own"
)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) flavour: Flavour,
    pub(super) config: Arc<FleetConfig>,
    pub(super) alive: bool,
    pub(super) asleep: bool,
    pub(super) loading: bool,
    /// Whether clients that want to write have to wait.
    pub(super) paused: bool,
    /// Whether it uses more memory than it may.
    pub(super) full: bool,
    pub(super) min_replicas: usize,
    /// The virtual time of what is being done.
    pub(super) now: Duration,
    pub(super) clock: NodeClock,
    pub(super) data: Keyspace,
    /// What the command that is running has changed.
    pub(super) effects: Vec<Effect>,
    pub(super) scripts: HashMap<[u8; 40], Arc<Script>, FxBuildHasher>,
    pub(super) conns: BTreeMap<ConnId, Conn>,
    pub(super) channels: Listeners,
    pub(super) shard_channels: Listeners,
    /// `None` outside of a cluster.
    pub(super) cluster: Option<Box<View>>,
    pub(super) replication: Replication,
    /// The script call that fails next: how many calls of one script it takes, and how.
    pub(super) failure: Option<(usize, FailKind)>,
    /// Runs of scripts, for `INFO commandstats`.
    pub(super) script_calls: u64,
    pub(super) out: Vec<(ConnId, Output)>,
    pub(super) links: Vec<Link>,
    /// When it next tells its replicas, or its master, how far it is.
    pub(super) next_ping: Duration,
    /// When it next greets the other nodes of its cluster.
    pub(super) next_greeting: Duration,
    /// Whose request is being served.
    pub(super) serving: Option<ConnId>,
    /// Messages to that one, which come behind the answer.
    pub(super) held_back: Vec<Reply>,
    /// What has come from others while it sleeps.
    pub(super) inbox: Vec<Link>,
}

impl Node {
    pub(super) fn new(
        id: NodeId,
        flavour: Flavour,
        config: &Arc<FleetConfig>,
        cluster: Option<Box<View>>,
        replication: Replication,
    ) -> Self {
        Self {
            id,
            flavour,
            config: Arc::clone(config),
            alive: true,
            asleep: false,
            loading: false,
            paused: false,
            full: false,
            min_replicas: 0,
            now: Duration::ZERO,
            clock: NodeClock::new(config.wall_micros),
            data: Keyspace::default(),
            effects: Vec::new(),
            scripts: HashMap::default(),
            conns: BTreeMap::new(),
            channels: Listeners::default(),
            shard_channels: Listeners::default(),
            cluster,
            replication,
            failure: None,
            script_calls: 0,
            out: Vec::new(),
            links: Vec::new(),
            next_ping: Duration::ZERO,
            next_greeting: Duration::ZERO,
            serving: None,
            held_back: Vec::new(),
            inbox: Vec::new(),
        }
    }

    /// Stands where this server was while it is lent to a script.
    pub(super) fn stand_in(&self) -> Self {
        Self::new(
            self.id,
            self.flavour,
            &self.config,
            None,
            Replication::default(),
        )
    }

    pub(super) fn micros(&self) -> u64 {
        self.clock.micros(self.now)
    }

    pub(super) fn millis(&self) -> u64 {
        self.micros() / 1000
    }

    pub(super) fn is_replica(&self) -> bool {
        self.replication.following.is_some()
    }

    /// Whether it runs and looks at what arrives.
    pub(super) fn is_awake(&self) -> bool {
        self.alive && !self.asleep
    }

    pub(super) fn send(&mut self, to: NodeId, item: LinkItem) {
        self.links.push(Link {
            from: self.id,
            to,
            item,
        });
    }
}
