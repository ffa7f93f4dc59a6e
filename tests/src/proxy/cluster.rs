//! A cluster with a proxy in front of every node.

use std::net::Ipv4Addr;

use super::FaultProxy;
use crate::{ClusterOptions, RedisCluster, port::Port};

/// A cluster whose nodes announce their proxies' ports, so that clients never get around them.
///
/// The nodes' own bus and replication suffer no faults of the proxies.
#[derive(Debug)]
pub struct ProxiedCluster {
    cluster: RedisCluster,
    proxies: Vec<FaultProxy>,
}

impl ProxiedCluster {
    /// Starts three masters with a replica each, behind proxies.
    pub async fn start() -> Self {
        Self::start_with(&ClusterOptions::new()).await
    }

    /// Starts a cluster with options behind proxies.
    pub async fn start_with(options: &ClusterOptions) -> Self {
        let ports: Vec<Port> = (0..options.nodes()).map(|_| Port::reserve()).collect();
        let proxies: Vec<FaultProxy> = ports
            .iter()
            .map(|port| FaultProxy::start((Ipv4Addr::LOCALHOST, port.number()).into()))
            .collect();
        let announced = proxies.iter().map(|proxy| proxy.addr().port()).collect();
        Self {
            cluster: RedisCluster::start_on(options, ports, announced).await,
            proxies,
        }
    }

    /// The URL of the whole cluster, through the proxies.
    #[must_use]
    pub fn url(&self) -> String {
        self.cluster.url()
    }

    /// The cluster; its own commands go past the proxies.
    #[must_use]
    pub fn cluster(&self) -> &RedisCluster {
        &self.cluster
    }

    /// The proxy in front of node number `number`.
    #[must_use]
    pub fn proxy(&self, number: usize) -> &FaultProxy {
        &self.proxies[number]
    }

    /// The proxies of all nodes, by number.
    #[must_use]
    pub fn proxies(&self) -> &[FaultProxy] {
        &self.proxies
    }

    /// The proxy in front of the master of `slot`.
    pub async fn proxy_of(&self, slot: u16) -> &FaultProxy {
        &self.proxies[self.cluster.master_of(slot).await]
    }
}
