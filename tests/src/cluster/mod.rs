//! A real Redis Cluster on loopback.

mod atomic;
mod failover;
mod inspect;
mod layout;
mod migration;
mod options;
mod shared;
mod stats;
mod view;

use std::fmt::Write as _;

use redis::Value;

use self::layout::Layout;
pub use self::{
    atomic::{AtomicMigration, Moved},
    migration::SlotMigration,
    options::ClusterOptions,
    shared::{shared_cluster, shared_server},
    stats::CommandStats,
};
use crate::{RedisServer, port::Port};

/// A cluster of real servers; they end with the value and with the test process.
///
/// Nodes have numbers: masters first at the start, then their replicas. Roles change, numbers do not.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    ids: Vec<String>,
    /// What clients connect to: the servers' ports, or those of proxies in front of them.
    announced: Vec<u16>,
    /// Held while keys move from node to node.
    moving: tokio::sync::Mutex<()>,
    /// Held while a migration comes to its end.
    ending: tokio::sync::Mutex<()>,
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
                .config(&format!("cluster-node-timeout {}", options.node_timeout))
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
            moving: tokio::sync::Mutex::default(),
            ending: tokio::sync::Mutex::default(),
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

    /// The cluster's own name of node number `number`.
    #[must_use]
    pub fn id(&self, number: usize) -> &str {
        &self.ids[number]
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

    /// All nodes, also those that are down.
    pub fn nodes(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter()
    }

    /// Node number `number`.
    #[must_use]
    pub fn node(&self, number: usize) -> &RedisServer {
        &self.nodes[number]
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

    async fn on_live(&self, command: &[&str]) {
        for node in self.live() {
            node.query::<Value>(command).await;
        }
    }
}
