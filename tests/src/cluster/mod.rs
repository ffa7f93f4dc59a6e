//! A real Redis Cluster on loopback.

mod failover;
mod layout;
mod migration;
mod shared;
mod stats;
mod view;

use std::{fmt::Write as _, time::Duration};

use redis::Value;

use self::{layout::Layout, view::View};
pub use self::{
    migration::SlotMigration,
    shared::{shared_cluster, shared_server},
    stats::CommandStats,
};
use crate::{RedisServer, ServerOptions, port::Port, slot::SLOTS, wait_for, wait_until};

/// How to start a [`RedisCluster`].
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    masters: usize,
    replicas: usize,
    server: ServerOptions,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ClusterOptions {
    /// Three masters with one replica each and a node timeout of one second.
    #[must_use]
    pub fn new() -> Self {
        Self {
            masters: 3,
            replicas: 1,
            server: ServerOptions::new(),
        }
    }

    /// Number of masters.
    #[must_use]
    pub fn masters(mut self, masters: usize) -> Self {
        self.masters = masters;
        self
    }

    /// Number of replicas of each master.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }

    /// Options of every server, for example a password.
    #[must_use]
    pub fn server(mut self, server: ServerOptions) -> Self {
        self.server = server;
        self
    }

    pub(crate) fn nodes(&self) -> usize {
        self.masters * (1 + self.replicas)
    }
}

/// A cluster of real servers; they end with the value and with the test process.
///
/// Nodes have numbers: masters first at the start, then their replicas. Roles change, numbers do not.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    ids: Vec<String>,
    /// What clients connect to: the servers' ports, or those of proxies in front of them.
    announced: Vec<u16>,
}

impl RedisCluster {
    /// Starts three masters with a replica each; takes a little over two seconds.
    pub async fn start() -> Self {
        Self::start_with(&ClusterOptions::new()).await
    }

    /// Starts a cluster with options.
    pub async fn start_with(options: &ClusterOptions) -> Self {
        let ports: Vec<Port> = (0..options.nodes()).map(|_| Port::reserve()).collect();
        let announced = ports.iter().map(Port::number).collect();
        Self::start_on(options, ports, announced).await
    }

    /// Starts a cluster on these ports that tells its clients to use `announced` instead.
    pub(crate) async fn start_on(
        options: &ClusterOptions,
        ports: Vec<Port>,
        announced: Vec<u16>,
    ) -> Self {
        let layout = Layout::new(options.masters, &ports, &announced);
        let launch = |(number, port): (usize, Port)| {
            let server = options
                .server
                .clone()
                .config("cluster-enabled yes")
                .config("cluster-config-file nodes.conf")
                .config("cluster-node-timeout 1000")
                // A replica that was cut off for long still takes over: tests pause and kill a lot.
                .config("cluster-replica-validity-factor 0")
                .config(&format!("cluster-announce-port {}", announced[number]))
                .config(&format!("cluster-announce-bus-port {}", port.bus()));
            let nodes_conf = layout.nodes_conf(number);
            RedisServer::launch(port, &server, &[("nodes.conf", &nodes_conf)])
        };
        let cluster = Self {
            nodes: ports.into_iter().enumerate().map(launch).collect(),
            ids: layout.into_ids(),
            announced,
        };
        for node in &cluster.nodes {
            node.wait_ready().await;
        }
        cluster.wait_ok().await;
        cluster
    }

    /// The URL of the whole cluster: one scheme, then every node.
    #[must_use]
    pub fn url(&self) -> String {
        let first = self.nodes[0].url_of_port(self.announced[0]);
        let mut url = first;
        for port in &self.announced[1..] {
            write!(url, ",127.0.0.1:{port}").expect("a String takes everything");
        }
        url
    }

    /// The URLs of the single nodes.
    #[must_use]
    pub fn seeds(&self) -> Vec<String> {
        let with_port = |(node, port): (&RedisServer, &u16)| node.url_of_port(*port);
        self.nodes
            .iter()
            .zip(&self.announced)
            .map(with_port)
            .collect()
    }

    /// Number of nodes, live or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes, which cannot be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Node number `number`.
    #[must_use]
    pub fn node(&self, number: usize) -> &RedisServer {
        &self.nodes[number]
    }

    /// Waits until all live nodes report `cluster_state:ok`, agree about every slot, see the same live
    /// masters, and the live replicas of live masters are in sync.
    pub async fn wait_ok(&self) {
        wait_until(Duration::from_secs(30), "the cluster is ok", || async {
            self.is_ok().await.unwrap_or(false)
        })
        .await;
    }

    /// The number of the node that owns `slot`.
    pub async fn master_of(&self, slot: u16) -> usize {
        let limit = Duration::from_secs(10);
        wait_for(limit, "a live master owns the slot", || self.owner(slot)).await
    }

    /// The numbers of the live replicas of the node that owns `slot`.
    pub async fn replicas_of(&self, slot: u16) -> Vec<usize> {
        let master = &self.ids[self.master_of(slot).await];
        let mut replicas = Vec::new();
        for (number, view) in self.views().await {
            if view.myself().master.as_ref() == Some(master) {
                replicas.push(number);
            }
        }
        replicas
    }

    /// The numbers of the live nodes that are masters with slots.
    pub async fn masters(&self) -> Vec<usize> {
        let mut masters = Vec::new();
        for (number, view) in self.views().await {
            if !view.myself().slots.is_empty() {
                masters.push(number);
            }
        }
        masters
    }

    /// All keys that match `pattern`, from all live masters, sorted.
    pub async fn keys(&self, pattern: &str) -> Vec<String> {
        let mut keys = Vec::new();
        for number in self.masters().await {
            keys.extend(
                self.nodes[number]
                    .query::<Vec<String>>(&["KEYS", pattern])
                    .await,
            );
        }
        keys.sort();
        keys.dedup();
        keys
    }

    /// Sends a command to the master of `key`; panics on an error.
    pub async fn query<T: redis::FromRedisValue>(&self, key: &str, arguments: &[&str]) -> T {
        let master = self.master_of(crate::slot_of(key)).await;
        self.nodes[master].query(arguments).await
    }

    /// Empties the script cache of every live node.
    pub async fn script_flush_all(&self) {
        self.on_live(&["SCRIPT", "FLUSH"]).await;
    }

    /// Closes the clients' connections of one type (`normal`, `pubsub`) at every live node.
    pub async fn client_kill_all(&self, kind: &str) {
        self.on_live(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"])
            .await;
    }

    /// What the live nodes count in `INFO commandstats`, added up. Commands that scripts call count too.
    pub async fn command_stats(&self) -> CommandStats {
        let mut stats = CommandStats::default();
        for node in self.live() {
            stats.add(&node.query::<String>(&["INFO", "commandstats"]).await);
        }
        stats
    }

    async fn on_live(&self, command: &[&str]) {
        for node in self.live() {
            node.query::<Value>(command).await;
        }
    }

    fn live(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter().filter(|node| node.is_live())
    }

    /// What each live node that answers thinks of the cluster.
    async fn views(&self) -> Vec<(usize, View)> {
        let mut views = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.is_live()
                && let Ok(text) = node.command(&["CLUSTER", "NODES"]).await
                && let Ok(text) = redis::from_redis_value::<String>(text)
            {
                views.push((number, View::parse(&text)));
            }
        }
        views
    }

    /// The live node that itself claims `slot`; with several, the one with the newest claim.
    async fn owner(&self, slot: u16) -> Option<usize> {
        let views = self.views().await;
        let claims = views
            .iter()
            .filter(|(_, view)| view.myself().owns(slot))
            .max_by_key(|(_, view)| view.myself().epoch);
        claims.map(|(number, _)| *number)
    }

    async fn is_ok(&self) -> redis::RedisResult<bool> {
        let views = self.views().await;
        let Some((_, first)) = views.first() else {
            return Ok(false);
        };
        let owners = first.owners();
        let agreed = owners.len() == usize::from(SLOTS)
            && views.iter().all(|(_, view)| view.owners() == owners)
            && views.len() == self.live().count();
        if !agreed {
            return Ok(false);
        }
        let live: Vec<&str> = views
            .iter()
            .map(|(number, _)| self.ids[*number].as_str())
            .collect();
        for (number, view) in &views {
            let text: String =
                redis::from_redis_value(self.nodes[*number].command(&["CLUSTER", "INFO"]).await?)?;
            let replicated = match &view.myself().master {
                Some(master) if live.contains(&master.as_str()) => self.nodes[*number]
                    .info("replication")
                    .await?
                    .contains("master_link_status:up"),
                _ => true,
            };
            if !text.contains("cluster_state:ok") || !replicated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Deadline for everything that waits for a vote of the cluster.
const ELECTION: Duration = Duration::from_secs(30);
