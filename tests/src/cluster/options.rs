//! What a test may ask of a cluster.

use crate::ServerOptions;

/// How to start a [`RedisCluster`](crate::RedisCluster).
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    pub(crate) masters: usize,
    replicas: usize,
    pub(crate) node_timeout: u32,
    pub(crate) server: ServerOptions,
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
            node_timeout: 1000,
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

    /// How long a node may be silent before others take it for dead, in ms (`cluster-node-timeout`).
    #[must_use]
    pub fn node_timeout(mut self, millis: u32) -> Self {
        self.node_timeout = millis;
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
