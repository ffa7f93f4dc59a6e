//! One server, or one cluster.

use std::time::Duration;

use dlock_tests::{ClusterOptions, Direction, FaultProxy, RedisCluster, RedisServer};

use super::{Commands, fields};
use crate::system::{Polling, Setup, Topology};

/// Where locks live during the benchmark.
#[derive(Debug)]
pub(crate) enum Site {
    /// One server.
    Standalone(Box<RedisServer>),
    /// Three masters. Without replicas, which would take turns on the few cores with what is measured.
    Cluster(RedisCluster),
    /// Servers that know nothing of one another. A proxy in front of the first one may cut it off.
    Quorum(Vec<RedisServer>, Option<FaultProxy>),
}

/// What one server of a quorum does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Away {
    No,
    Shutdown,
    Hung,
    Refusing,
    /// Each answer takes 200 ms longer.
    Slow,
}

impl Site {
    pub(crate) async fn standalone() -> Self {
        Self::Standalone(Box::new(RedisServer::start().await))
    }

    pub(crate) async fn cluster() -> Self {
        let options = ClusterOptions::new().replicas(0);
        Self::Cluster(RedisCluster::start_with(&options).await)
    }

    pub(crate) async fn quorum(servers: usize) -> Self {
        let mut started = Vec::new();
        for _ in 0..servers {
            started.push(RedisServer::start().await);
        }
        Self::Quorum(started, None)
    }

    /// A quorum whose first server can be away.
    pub(crate) async fn shaky(servers: usize) -> Self {
        let mut site = Self::quorum(servers).await;
        if let Self::Quorum(servers, proxy) = &mut site {
            *proxy = Some(FaultProxy::start(servers[0].addr()));
        }
        site
    }

    /// The server that can be away, and the proxy in front of it.
    fn shaken(&self) -> (&RedisServer, &FaultProxy) {
        match self {
            Self::Quorum(servers, Some(proxy)) => (&servers[0], proxy),
            _ => panic!("its servers are always there"),
        }
    }

    /// From now on the first server is away like this.
    pub(crate) fn begin(&self, away: Away) {
        let (server, proxy) = self.shaken();
        match away {
            Away::No => {}
            Away::Shutdown => server.kill(),
            Away::Hung => server.pause(),
            Away::Refusing => proxy.refuse(),
            Away::Slow => proxy.delay(Direction::ToClient, Duration::from_millis(200)),
        }
    }

    /// Ends what [`Self::begin`] began.
    pub(crate) async fn end(&self, away: Away) {
        let (server, proxy) = self.shaken();
        match away {
            Away::No => {}
            Away::Shutdown => server.restart().await,
            Away::Hung => server.resume(),
            Away::Refusing | Away::Slow => proxy.pass(),
        }
    }

    /// What to connect with, for holds of this lease.
    pub(crate) fn setup(&self, lease: Duration) -> Setup {
        let (url, topology) = match self {
            Self::Standalone(server) => (server.url(), Topology::Standalone),
            Self::Cluster(cluster) => (cluster.url(), Topology::Cluster),
            Self::Quorum(servers, proxy) => {
                let mut urls: Vec<String> = servers.iter().map(RedisServer::url).collect();
                if let Some(proxy) = proxy {
                    urls[0] = proxy.url();
                }
                (urls.join(","), Topology::Quorum)
            }
        };
        Setup {
            url,
            topology,
            lease,
            polling: Polling::Tuned,
        }
    }

    /// What results are called here.
    pub(crate) fn label(&self, system: impl std::fmt::Display) -> String {
        match self {
            Self::Standalone(_) => system.to_string(),
            Self::Cluster(_) => format!("{system} (cluster)"),
            Self::Quorum(..) => format!("{system} (quorum)"),
        }
    }

    pub(crate) fn nodes(&self) -> Vec<&RedisServer> {
        match self {
            Self::Standalone(server) => vec![server],
            Self::Cluster(cluster) => (0..cluster.len()).map(|n| cluster.node(n)).collect(),
            Self::Quorum(servers, _) => servers.iter().collect(),
        }
    }

    /// The CPU time of all servers so far, in seconds.
    pub(crate) async fn cpu(&self) -> f64 {
        let infos = self.infos("cpu").await;
        let used = infos.iter().flat_map(|info| fields(info));
        let used = used.filter(|(name, _)| ["used_cpu_user", "used_cpu_sys"].contains(name));
        used.map(|(_, value)| value.parse::<f64>().expect("seconds"))
            .sum()
    }

    pub(crate) async fn commands(&self) -> Commands {
        self.infos("commandstats").await.into_iter().collect()
    }

    /// The memory that all servers have allocated, in bytes.
    pub(crate) async fn memory(&self) -> f64 {
        let infos = self.infos("memory").await;
        let used = infos.iter().flat_map(|info| fields(info));
        let used = used.filter(|(name, _)| *name == "used_memory");
        used.map(|(_, value)| value.parse::<f64>().expect("bytes"))
            .sum()
    }

    /// A section of `INFO`, of each server.
    async fn infos(&self, section: &str) -> Vec<String> {
        let mut infos = Vec::new();
        for node in self.nodes() {
            infos.push(node.info(section).await.expect("the server answers"));
        }
        infos
    }

    /// How many subscriptions all clients have, of each kind.
    pub(crate) async fn subscriptions(&self) -> usize {
        let mut sum = 0;
        for node in self.nodes() {
            let clients: String = node.query(&["CLIENT", "LIST", "TYPE", "pubsub"]).await;
            let fields = clients.split_whitespace();
            let numbers = fields.filter_map(|field| {
                let number = field.strip_prefix("sub=").or(field.strip_prefix("ssub="));
                number?.parse::<usize>().ok()
            });
            sum += numbers.sum::<usize>();
        }
        sum
    }

    /// Removes all keys, so that one run leaves nothing to the next.
    pub(crate) async fn flush(&self) {
        for node in self.nodes() {
            node.query::<()>(&["FLUSHALL"]).await;
        }
    }
}
