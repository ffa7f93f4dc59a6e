//! Redlock on real servers, some of which fail.

mod contenders;
mod deaths;
mod distinct;
mod judge;
mod late;
mod processes;
mod renewals;
mod replaced;
mod shards;
mod unheard;

use std::time::Duration;

use dlock::{Client, ClientBuilder, LockInfo};
use dlock_tests::{FaultProxy, RedisServer, connect, unique_prefix, wait_until};

/// Independent servers.
struct Servers {
    servers: Vec<RedisServer>,
    prefix: String,
}

impl Servers {
    async fn start(count: usize) -> Self {
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(RedisServer::start().await);
        }
        Self {
            servers,
            prefix: unique_prefix(),
        }
    }

    fn urls(&self) -> Vec<String> {
        self.servers.iter().map(RedisServer::url).collect()
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder().quorum(self.urls()).prefix(&self.prefix)
    }

    async fn client(&self) -> Client {
        self.builder().build().await.expect("a majority is there")
    }

    /// What one server has recorded.
    async fn recorded(&self, server: usize, name: &str) -> LockInfo {
        let client = connect(&self.servers[server].url(), &self.prefix).await;
        let lock = client.rw_lock(name).expect("a good name");
        lock.inspect().await.expect("it answers")
    }

    /// Waits until none of these servers has anything recorded.
    async fn wait_nothing_left(&self, servers: impl IntoIterator<Item = usize>, name: &str) {
        for server in servers {
            wait_until(
                Duration::from_secs(10),
                &format!("server {server} has no hold"),
                || async { self.recorded(server, name).await.holders.is_empty() },
            )
            .await;
        }
    }
}

/// Three servers behind proxies.
struct Proxied {
    servers: Servers,
    proxies: Vec<FaultProxy>,
}

impl Proxied {
    async fn start() -> Self {
        let servers = Servers::start(3).await;
        let started = servers.servers.iter();
        let proxies = started.map(|server| FaultProxy::start(server.addr()));
        Self {
            proxies: proxies.collect(),
            servers,
        }
    }

    /// Of a client that goes through the proxies.
    fn builder(&self) -> ClientBuilder {
        let urls = self.proxies.iter().map(FaultProxy::url);
        Client::builder().quorum(urls).prefix(&self.servers.prefix)
    }

    /// Whether requests to the first so many are kept back.
    fn have_kept(&self, proxies: usize) -> bool {
        let mut proxies = self.proxies[..proxies].iter();
        proxies.all(|proxy| proxy.counters().kept > 0)
    }

    /// Waits until requests to the first so many are kept back.
    async fn wait_kept(&self, proxies: usize) {
        wait_until(Duration::from_secs(10), "requests are kept", || async {
            self.have_kept(proxies)
        })
        .await;
    }
}
