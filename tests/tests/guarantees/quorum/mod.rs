//! A lock on most of several stores, in memory: what it promises while nothing is broken but clocks and callers.

mod clocks;
mod drops;
mod opening;
mod rules;

use dlock::{Client, ClientBuilder, LockInfo};
use dlock_tests::{connect, unique_prefix, wait_until};
use std::time::Duration;

/// Stores that only these tests know.
struct Members {
    urls: Vec<String>,
    prefix: String,
}

impl Members {
    fn new(count: usize) -> Self {
        let prefix = unique_prefix();
        let url = |number| format!("memory://{prefix}-{number}");
        Self {
            urls: (0..count).map(url).collect(),
            prefix,
        }
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder().quorum(&self.urls).prefix(&self.prefix)
    }

    async fn client(&self) -> Client {
        self.builder().build().await.expect("all are there")
    }

    /// A client of one member alone.
    async fn alone(&self, member: usize) -> Client {
        connect(&self.urls[member], &self.prefix).await
    }

    /// What each member has recorded.
    async fn recorded(&self, name: &str) -> Vec<LockInfo> {
        let mut infos = Vec::new();
        for member in 0..self.urls.len() {
            let lock = self.alone(member).await.rw_lock(name).expect("a good name");
            infos.push(lock.inspect().await.expect("in memory"));
        }
        infos
    }

    /// Waits until no member has anything recorded.
    async fn wait_nothing_left(&self, name: &str) {
        wait_until(
            Duration::from_secs(5),
            "no member has a hold or a waiter",
            || async {
                let infos = self.recorded(name).await;
                infos
                    .iter()
                    .all(|info| info.holders.is_empty() && info.waiters.is_empty())
            },
        )
        .await;
    }
}
