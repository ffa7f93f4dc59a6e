//! The servers together, and their connections.

use std::sync::Arc;
use std::time::Duration;

use super::cluster::View;
use super::config::{Flavour, FleetConfig};
use super::link::Link;
use super::node::{Following, Node, Replication};

/// One of the servers: 0, 1, …; masters first, then their replicas, as they were at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// A connection of a client. Numbers are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u64);

/// What a server does to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// It writes.
    Bytes(Vec<u8>),
    /// It closes the connection, or it died.
    Close,
}

/// One server, the servers of one cluster, or several that have nothing to do with one another.
#[derive(Debug)]
pub struct Fleet {
    flavour: Flavour,
    config: Arc<FleetConfig>,
    pub(super) nodes: Vec<Node>,
    /// Which server each connection is at; by the connection's number.
    conns: Vec<NodeId>,
    /// The number of the latest history of changes.
    histories: u64,
}

impl Fleet {
    /// A single server.
    #[must_use]
    pub fn single(flavour: Flavour, config: FleetConfig) -> Self {
        let config = Arc::new(config);
        let node = Node::new(NodeId(0), flavour, &config, None, Replication::default());
        Self::of(flavour, config, vec![node])
    }

    /// So many single servers that know nothing of one another.
    #[must_use]
    pub fn apart(flavour: Flavour, count: usize, config: FleetConfig) -> Self {
        let config = Arc::new(config);
        let node = |number: usize| {
            let replication = Replication {
                history: number as u64 + 1,
                ..Replication::default()
            };
            Node::new(NodeId(number), flavour, &config, None, replication)
        };
        let nodes = (0..count).map(node).collect();
        Self::of(flavour, config, nodes)
    }

    /// A cluster: all slots spread over the masters, each with so many replicas.
    #[must_use]
    pub fn cluster(
        flavour: Flavour,
        masters: usize,
        replicas_each: usize,
        config: FleetConfig,
    ) -> Self {
        let config = Arc::new(config);
        let count = masters * (replicas_each + 1);
        let node = |number: usize| {
            let view = View::new(NodeId(number), masters, count);
            let master = NodeId(number % masters);
            let replication = Replication {
                history: master.0 as u64 + 1,
                step: 0,
                following: (number >= masters).then_some(Following {
                    master,
                    in_sync: true,
                }),
                replicas: (masters..count)
                    .filter(|other| number < masters && other % masters == number)
                    .map(|other| (NodeId(other), Some(Duration::ZERO)))
                    .collect(),
            };
            Node::new(
                NodeId(number),
                flavour,
                &config,
                Some(Box::new(view)),
                replication,
            )
        };
        let nodes = (0..count).map(node).collect();
        Self::of(flavour, config, nodes)
    }

    fn of(flavour: Flavour, config: Arc<FleetConfig>, nodes: Vec<Node>) -> Self {
        let histories = nodes.len() as u64 + 1;
        Self {
            flavour,
            config,
            nodes,
            conns: Vec::new(),
            histories,
        }
    }

    /// All servers.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// Which servers they are.
    #[must_use]
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Where a server listens.
    #[must_use]
    pub fn addr(&self, node: NodeId) -> (String, u16) {
        let port = self.config.first_port + u16::try_from(node.0).unwrap_or(0);
        (self.config.host.clone(), port)
    }

    /// The server that listens there.
    #[must_use]
    pub fn node_at(&self, host: &str, port: u16) -> Option<NodeId> {
        let number = usize::from(port.checked_sub(self.config.first_port)?);
        (host == self.config.host && number < self.nodes.len()).then_some(NodeId(number))
    }

    /// Connects to a server; `None` if it is dead.
    pub fn accept(&mut self, node: NodeId) -> Option<ConnId> {
        if !self.nodes[node.0].alive {
            return None;
        }
        let conn = ConnId(self.conns.len() as u64);
        self.conns.push(node);
        self.nodes[node.0].accept(conn);
        Some(conn)
    }

    /// The client closes a connection, or it breaks. Nothing comes out for it any more.
    pub fn close(&mut self, conn: ConnId) {
        if let Some(node) = self.node_of(conn) {
            let node = &mut self.nodes[node.0];
            node.forget(conn);
            node.out.retain(|(other, _)| *other != conn);
        }
    }

    /// Bytes from a client arrive, perhaps a part of a request. A server that sleeps looks at them when it wakes.
    /// Replies to a connection that the server has closed are lost.
    pub fn feed(&mut self, now: Duration, conn: ConnId, bytes: &[u8]) {
        if let Some(node) = self.node_of(conn) {
            self.at(now, node).receive(conn, bytes);
        }
    }

    /// What servers have written since, in order for each server.
    pub fn take_output(&mut self) -> Vec<(ConnId, Output)> {
        let mut all = Vec::new();
        for node in &mut self.nodes {
            all.append(&mut node.out);
        }
        all
    }

    /// What servers have sent each other since, in order for each sender.
    pub fn take_links(&mut self) -> Vec<Link> {
        let mut all = Vec::new();
        for node in &mut self.nodes {
            all.append(&mut node.links);
        }
        all
    }

    /// Something that a server has sent arrives at the other. May be done twice, in any order, or never: what
    /// replicas then miss they ask for again.
    pub fn deliver(&mut self, now: Duration, link: &Link) {
        self.at(now, link.to).hear(link);
    }

    /// What servers do ten times a second by themselves: expired keys go, the cluster's nodes greet each other.
    pub fn tick(&mut self, now: Duration) {
        for node in self.nodes.iter_mut().filter(|node| node.is_awake()) {
            node.tick(now);
        }
    }

    /// The server at which a connection is, or was.
    fn node_of(&self, conn: ConnId) -> Option<NodeId> {
        self.conns.get(usize::try_from(conn.0).ok()?).copied()
    }

    /// A server at that time.
    pub(super) fn at(&mut self, now: Duration, node: NodeId) -> &mut Node {
        let node = &mut self.nodes[node.0];
        node.now = now;
        node
    }

    /// A number for a history of changes that begins.
    pub(super) fn new_history(&mut self) -> u64 {
        self.histories += 1;
        self.histories
    }
}
