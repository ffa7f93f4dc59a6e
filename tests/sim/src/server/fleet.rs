//! The servers together, and their connections.

use std::time::Duration;

use super::config::{Flavour, FleetConfig};
use super::link::Link;

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

/// One server, or the servers of one cluster.
#[derive(Debug)]
pub struct Fleet {
    flavour: Flavour,
    config: FleetConfig,
}

impl Fleet {
    /// A single server.
    #[must_use]
    pub fn single(flavour: Flavour, config: FleetConfig) -> Self {
        Self { flavour, config }
    }

    /// A cluster: all slots spread over the masters, each with so many replicas.
    #[must_use]
    pub fn cluster(
        flavour: Flavour,
        masters: usize,
        replicas_each: usize,
        config: FleetConfig,
    ) -> Self {
        let _ = (masters, replicas_each);
        Self { flavour, config }
    }

    /// All servers.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..1).map(NodeId)
    }

    /// Which servers they are.
    #[must_use]
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Where a server listens.
    #[must_use]
    pub fn addr(&self, _node: NodeId) -> (String, u16) {
        unimplemented!()
    }

    /// The server that listens there.
    #[must_use]
    pub fn node_at(&self, _host: &str, _port: u16) -> Option<NodeId> {
        unimplemented!()
    }

    /// Connects to a server; `None` if it is dead.
    pub fn accept(&mut self, _node: NodeId) -> Option<ConnId> {
        unimplemented!()
    }

    /// The client closes a connection, or it breaks. Nothing comes out for it any more.
    pub fn close(&mut self, _conn: ConnId) {
        unimplemented!()
    }

    /// Bytes from a client arrive, perhaps a part of a request. A server that sleeps looks at them when it wakes.
    /// Those to a connection that the server has closed are lost.
    pub fn feed(&mut self, _now: Duration, _conn: ConnId, _bytes: &[u8]) {
        unimplemented!()
    }

    /// What servers have written since, in order.
    pub fn take_output(&mut self) -> Vec<(ConnId, Output)> {
        unimplemented!()
    }

    /// What servers have sent each other since, in order.
    pub fn take_links(&mut self) -> Vec<Link> {
        unimplemented!()
    }

    /// Something that a server has sent arrives at the other. May be done twice, in any order, or never: what
    /// replicas then miss they ask for again.
    pub fn deliver(&mut self, _now: Duration, _link: &Link) {
        unimplemented!()
    }

    /// What servers do ten times a second by themselves: expired keys go, the cluster's nodes greet each other.
    pub fn tick(&mut self, _now: Duration) {
        unimplemented!()
    }
}
