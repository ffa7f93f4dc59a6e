//! A quorum with one server away or slow: the others decide, and as fast as before.
//!
//! These tests measure time, so they run one after the other, and in a program of their own.

mod pending;
mod race;
mod returned;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dlock::{Client, ClientBuilder};
use dlock_tests::{Direction, FaultProxy, RedisServer, connect, unique_prefix};
use tokio::sync::{Mutex, MutexGuard};

/// What happens to the one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process ends, and comes back empty.
    Shutdown,
    /// The process stands still.
    Hung,
    /// Connections are closed, and new ones are refused.
    Refusing,
    /// Each answer takes this much longer.
    Slow(Duration),
}

/// Independent servers, one of which can be away.
struct Quorum {
    servers: Vec<RedisServer>,
    proxy: FaultProxy,
    victim: usize,
    prefix: String,
    _alone: MutexGuard<'static, ()>,
}

impl Quorum {
    async fn start(count: usize) -> Self {
        // The first one, and another: which one it is may matter.
        static VICTIM: AtomicUsize = AtomicUsize::new(0);
        Self::with(count, VICTIM.fetch_add(1, Ordering::Relaxed) % 2).await
    }

    async fn with(count: usize, victim: usize) -> Self {
        static ALONE: Mutex<()> = Mutex::const_new(());
        let alone = ALONE.lock().await;
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(RedisServer::start().await);
        }
        Self {
            proxy: FaultProxy::start(servers[victim].addr()),
            servers,
            victim,
            prefix: unique_prefix(),
            _alone: alone,
        }
    }

    fn builder(&self) -> ClientBuilder {
        let mut urls: Vec<_> = self.servers.iter().map(RedisServer::url).collect();
        urls[self.victim] = self.proxy.url();
        Client::builder().quorum(urls).prefix(&self.prefix)
    }

    async fn client(&self) -> Client {
        self.builder().build().await.expect("all are there")
    }

    fn begin(&self, fault: Fault) {
        let server = &self.servers[self.victim];
        match fault {
            Fault::Shutdown => server.kill(),
            Fault::Hung => server.pause(),
            Fault::Refusing => self.proxy.refuse(),
            Fault::Slow(delay) => self.proxy.delay(Direction::ToClient, delay),
        }
    }

    async fn end(&self, fault: Fault) {
        let server = &self.servers[self.victim];
        match fault {
            Fault::Shutdown => server.restart().await,
            Fault::Hung => server.resume(),
            Fault::Refusing | Fault::Slow(_) => self.proxy.pass(),
        }
    }

    /// A client of one server alone.
    async fn alone(&self, server: usize) -> Client {
        connect(&self.servers[server].url(), &self.prefix).await
    }
}
