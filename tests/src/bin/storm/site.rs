//! The servers.

use std::fmt;
use std::time::{Duration, Instant};

use dlock_tests::{ClusterOptions, RedisCluster, RedisServer, ServerOptions};

/// What kind of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Single,
    Cluster,
}

/// Servers of this run's own. They keep their data when they are started again.
#[derive(Debug)]
pub(crate) enum Site {
    Single(Box<RedisServer>),
    Cluster(RedisCluster),
}

impl Site {
    pub(crate) async fn start(kind: Kind) -> Self {
        let server = ServerOptions::new()
            .config("appendonly yes")
            .config("appendfsync no")
            .config("maxclients 4000");
        match kind {
            Kind::Single => Self::Single(Box::new(RedisServer::start_with(&server).await)),
            Kind::Cluster => {
                // The servers' default: 200 processes that begin at once leave them little of the processors.
                let options = ClusterOptions::new().masters(3).replicas(0);
                let options = options.node_timeout(15_000).server(server);
                Self::Cluster(RedisCluster::start_with(&options).await)
            }
        }
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Single(server) => server.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    pub(crate) fn servers(&self) -> Vec<&RedisServer> {
        match self {
            Self::Single(server) => vec![server],
            Self::Cluster(cluster) => (0..cluster.len()).map(|n| cluster.node(n)).collect(),
        }
    }

    /// Closes the clients' connections for messages.
    pub(crate) async fn kill_subscriptions(&self) {
        for server in self.servers() {
            let kill = ["CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"];
            server.query::<redis::Value>(&kill).await;
        }
    }

    /// Starts all servers again, and waits until they serve; from the kill on.
    pub(crate) async fn restart(&self) -> Duration {
        let began = Instant::now();
        for server in self.servers() {
            server.relaunch();
        }
        dlock_tests::wait_until(Duration::from_secs(30), "the servers serve", || async {
            for server in self.servers() {
                let served = server.command(&["GET", "nothing"]).await;
                // A slot of another node is an answer of a cluster that is up.
                let up = match &served {
                    Ok(_) => true,
                    Err(error) => error.code() == Some("MOVED"),
                };
                if !up {
                    return false;
                }
            }
            true
        })
        .await;
        began.elapsed()
    }

    /// Stops all servers for a while (SIGSTOP).
    pub(crate) async fn stand_still(&self, silence: Duration) {
        for server in self.servers() {
            server.pause();
        }
        tokio::time::sleep(silence).await;
        for server in self.servers() {
            server.resume();
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cluster() {
            "a cluster of three masters"
        } else {
            "one server"
        })
    }
}
