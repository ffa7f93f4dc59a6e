//! The servers of a round, and the proxies in front of them.

use std::time::{Duration, Instant};

use dlock_tests::{
    ClusterOptions, FaultProxy, Faults, ProxiedCluster, RedisServer, ServerOptions, scaled,
};
use futures_util::future::join_all;
use redis::Value;
use tokio::time::sleep;

use super::{
    facts::Facts,
    homes::{Homes, SHARDS},
};
use crate::plan::{MEMBERS, Plan, Topology, lock_count};

/// What servers must manage after everything.
const HEALING: Duration = Duration::from_secs(40);

#[derive(Debug)]
enum Servers {
    Single {
        server: Box<RedisServer>,
        proxy: FaultProxy,
    },
    Cluster(ProxiedCluster),
    /// They have nothing to do with one another.
    Apart(Vec<(RedisServer, FaultProxy)>),
}

/// Servers by number: of a cluster, a shard's master and its replica are as far apart as there are shards. Of a quorum, each
/// is a shard of its own, as far as what happens to it goes.
#[derive(Debug)]
pub(crate) struct Site {
    servers: Servers,
    pub(crate) homes: Homes,
    shards: usize,
}

/// What a server says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Master,
    Replica,
}

/// The user that a process logs in as: its connections have faults of their own.
fn user(process: usize) -> String {
    format!("worker{process}")
}

impl Site {
    pub(crate) async fn start(plan: &Plan) -> Self {
        let mut options = ServerOptions::new();
        for process in 0..plan.processes.len() {
            options = options.user(&user(process), "on >soak ~* &* +@all");
        }
        if plan.persistent {
            // What was answered is in the file: a process that is killed loses nothing of it, whatever the disk does.
            options = options
                .config("appendonly yes")
                .config("appendfsync no")
                .config("auto-aof-rewrite-min-size 4mb");
        }
        let (servers, shards) = match plan.draw.topology {
            Topology::Single => {
                let server = Box::new(RedisServer::start_with(&options).await);
                let proxy = FaultProxy::start(server.addr());
                (Servers::Single { server, proxy }, 1)
            }
            Topology::Cluster => {
                let coverage = if plan.full_coverage { "yes" } else { "no" };
                let options = options.config(&format!("cluster-require-full-coverage {coverage}"));
                let options = ClusterOptions::new().masters(SHARDS).server(options);
                (
                    Servers::Cluster(ProxiedCluster::start_with(&options).await),
                    SHARDS,
                )
            }
            Topology::Apart => {
                let start = |_| RedisServer::start_with(&options);
                let servers = join_all((0..MEMBERS).map(start)).await;
                let proxied = |server: RedisServer| {
                    let proxy = FaultProxy::start(server.addr());
                    (server, proxy)
                };
                (
                    Servers::Apart(servers.into_iter().map(proxied).collect()),
                    MEMBERS,
                )
            }
        };
        Self {
            servers,
            homes: Homes::new(lock_count(plan), shards),
            shards,
        }
    }

    /// What a process connects to; nothing for who watches. Several are a quorum.
    pub(crate) fn urls(&self, process: Option<usize>) -> Vec<String> {
        let urls = match &self.servers {
            Servers::Single { proxy, .. } => vec![proxy.url()],
            Servers::Cluster(cluster) => vec![cluster.url()],
            Servers::Apart(members) => members.iter().map(|(_, proxy)| proxy.url()).collect(),
        };
        let login = process.map_or(String::new(), |process| format!("{}:soak@", user(process)));
        let with_login = |url: String| url.replacen("redis://", &format!("redis://{login}"), 1);
        urls.into_iter().map(with_login).collect()
    }

    pub(crate) fn len(&self) -> usize {
        match &self.servers {
            Servers::Single { .. } => 1,
            Servers::Cluster(cluster) => cluster.cluster().len(),
            Servers::Apart(members) => members.len(),
        }
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards
    }

    pub(crate) fn node(&self, number: usize) -> &RedisServer {
        match &self.servers {
            Servers::Single { server, .. } => server,
            Servers::Cluster(cluster) => cluster.cluster().node(number),
            Servers::Apart(members) => &members[number].0,
        }
    }

    /// A cluster's name of a server.
    pub(crate) fn id(&self, number: usize) -> Option<&str> {
        match &self.servers {
            Servers::Single { .. } | Servers::Apart(_) => None,
            Servers::Cluster(cluster) => Some(cluster.cluster().id(number)),
        }
    }

    /// The nodes that say that they own a slot.
    pub(crate) async fn owner(&self, slot: u16) -> Option<usize> {
        match &self.servers {
            Servers::Single { .. } => Some(0),
            Servers::Cluster(cluster) => cluster.cluster().owner(slot).await,
            Servers::Apart(_) => None,
        }
    }

    /// The faults between a process and a server.
    pub(crate) fn between(&self, process: usize, node: usize) -> Faults {
        let proxy = match &self.servers {
            Servers::Single { proxy, .. } => proxy,
            Servers::Cluster(cluster) => cluster.proxy(node),
            Servers::Apart(members) => &members[node].1,
        };
        proxy.of_user(&user(process))
    }

    /// The other server of the same shard.
    pub(crate) fn partner(&self, node: usize) -> Option<usize> {
        (self.len() > self.shards).then(|| (node + self.shards) % self.len())
    }

    /// What a server says it is, if it answers.
    pub(crate) async fn role(&self, node: usize) -> Option<Role> {
        let server = self.node(node);
        if !server.is_live() {
            return None;
        }
        let Ok(Value::Array(answer)) = server.command(&["ROLE"]).await else {
            return None;
        };
        match answer.first()? {
            Value::BulkString(name) if name == b"master" => Some(Role::Master),
            Value::BulkString(_) => Some(Role::Replica),
            _ => None,
        }
    }

    /// The number of the live master of a shard.
    pub(crate) async fn master_of(&self, shard: usize) -> Option<usize> {
        if self.role(shard).await == Some(Role::Master) {
            return Some(shard);
        }
        let other = self.partner(shard)?;
        (self.role(other).await == Some(Role::Master)).then_some(other)
    }

    /// Whether all run, agree, and replicate.
    async fn is_ok(&self) -> bool {
        let all_live = (0..self.len()).all(|number| self.node(number).is_live());
        all_live
            && match &self.servers {
                Servers::Single { .. } | Servers::Apart(_) => {
                    let roles = join_all((0..self.len()).map(|number| self.role(number))).await;
                    roles.iter().all(Option::is_some)
                }
                Servers::Cluster(cluster) => cluster.cluster().is_ok().await,
            }
    }

    /// Waits until all is well; whether it is.
    pub(crate) async fn heals(&self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < scaled(HEALING) {
            if self.is_ok().await {
                return true;
            }
            sleep(Duration::from_millis(50)).await;
        }
        false
    }

    /// Ends all that may still be wrong: an operator who tidies up.
    pub(crate) async fn mend(&self, facts: &Facts, processes: usize) {
        for number in 0..self.len() {
            for process in 0..processes {
                self.between(process, number).pass();
            }
            let server = self.node(number);
            if server.has_ended() {
                facts.trouble(format_args!(
                    "server {number} was down: {}",
                    tail(&server.log())
                ));
                server.relaunch();
            } else if !server.is_live() {
                server.resume();
            }
        }
        if !self.heals().await {
            facts.trouble("the servers do not agree any more");
        }
    }
}

/// The end of a log.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}
