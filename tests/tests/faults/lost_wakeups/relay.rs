//! A lock that goes from client to client.

use std::{
    future::Future,
    sync::OnceLock,
    time::{Duration, Instant},
};

use dlock::{Client, RwLock};
use dlock_tests::{SOON, builder, scaled, unique_prefix, wait_waiters};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::{task::JoinSet, time::timeout};

const CLIENTS: usize = 4;

/// Clients that want the same lock.
pub(crate) struct Relay {
    label: &'static str,
    locks: Vec<RwLock>,
    /// What its metrics counted before the rounds that are measured.
    before: (usize, usize),
}

impl Relay {
    /// The label tells this relay's metrics from those of others in this process. All that wait are subscribed afterwards: a
    /// waiter looks again once it is, and may find the lock free without having been woken.
    pub(crate) async fn start(url: &str, label: &'static str) -> Self {
        exporter();
        let prefix = unique_prefix();
        let mut locks = Vec::new();
        for _ in 0..CLIENTS {
            let client: Client = builder(url, &prefix).build().await.expect("it is up");
            locks.push(client.rw_lock("relay").expect("valid").label(label));
        }
        let mut relay = Self {
            label,
            locks,
            before: (0, 0),
        };
        relay.round(async {}, async |()| {}).await;
        relay.before = relay.counts();
        relay
    }

    /// Where the lock is.
    pub(crate) fn slot(&self) -> u16 {
        self.locks[0].key().slot().as_u16()
    }

    /// One client holds, the others line up. After `before` the first one leaves, beside `beside`, and all get their
    /// turn. How long each of them waited for a lock that was free.
    pub(crate) async fn round<T>(
        &self,
        before: impl Future<Output = T>,
        beside: impl AsyncFnOnce(T),
    ) -> Vec<Duration> {
        let (first, others) = self.locks.split_first().expect("several clients");
        let held = first.write().await.expect("free");
        let mut waiting = JoinSet::new();
        for lock in others {
            let lock = lock.clone();
            waiting.spawn(async move {
                let guard = lock.write().await.expect("its turn");
                let granted = Instant::now();
                guard.release().await.expect("held to the end");
                (granted, Instant::now())
            });
        }
        wait_waiters(first, others.len()).await;
        let prepared = before.await;
        let release = async {
            held.release().await.expect("held to the end");
            Instant::now()
        };
        let (mut free, ()) = tokio::join!(release, beside(prepared));
        let turns = timeout(scaled(SOON), waiting.join_all()).await;
        let mut turns =
            turns.unwrap_or_else(|_| panic!("somebody waits for ever: {}", self.text()));
        turns.sort();
        turns
            .into_iter()
            .map(|(granted, released)| {
                let waited = granted.saturating_duration_since(free);
                free = free.max(released);
                waited
            })
            .collect()
    }

    /// How often waiters looked again in the rounds that are measured: because of a message, and because of a timer.
    pub(crate) fn wakeups(&self) -> (usize, usize) {
        let now = self.counts();
        (now.0 - self.before.0, now.1 - self.before.1)
    }

    fn counts(&self) -> (usize, usize) {
        let text = self.text();
        let count = |source| {
            let series = format!(
                "dlock_wakeups_total{{lock=\"{}\",kind=\"rw\",source=\"{source}\"}} ",
                self.label
            );
            let value = text.lines().find_map(|line| line.strip_prefix(&series));
            let value = value.unwrap_or_else(|| panic!("no {series} in\n{text}"));
            value.parse::<usize>().expect("a number")
        };
        (count("message"), count("timer"))
    }

    fn text(&self) -> String {
        let all = exporter().render();
        let own = all.lines().filter(|line| line.contains(self.label));
        own.collect::<Vec<_>>().join("\n")
    }
}

/// One for all tests of this process.
fn exporter() -> &'static PrometheusHandle {
    static EXPORTER: OnceLock<PrometheusHandle> = OnceLock::new();
    EXPORTER.get_or_init(|| {
        let builder = PrometheusBuilder::new();
        builder.install_recorder().expect("the only recorder")
    })
}
