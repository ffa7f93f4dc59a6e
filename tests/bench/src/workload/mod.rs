//! The workloads.

mod attribute;
mod calls;
mod contest;
mod crash;
mod effort;
pub(crate) mod growth;
mod hot_key;
mod latency;
mod leak;
mod linger;
mod load;
mod many;
mod quorum;
mod readers;
mod renewal;
pub(crate) mod sizing;
mod storm;
mod tasks;
mod throughput;

use std::time::Duration;

use dlock_tests::RedisServer;

pub(crate) use self::{contest::run_child, effort::Effort};
use crate::{measure::KeptApart, results::Results, server::Site, system::Kind};

/// The lease of ordinary runs; long enough that nothing is renewed.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// The workloads and what they are called in the table.
pub(crate) const TITLES: [(&str, &str); 29] = [
    (
        "w1",
        "one task, distinct keys, acquire and release: one round trip each",
    ),
    (
        "w2-64",
        "64 tasks, 10,000 keys: throughput without contention",
    ),
    (
        "w2-256",
        "256 tasks, 10,000 keys: throughput without contention",
    ),
    ("w3-2", "one hot key, 2 processes, held 1 ms"),
    ("w3-8", "one hot key, 8 processes, held 1 ms"),
    ("w3-32", "one hot key, 32 processes, held 1 ms"),
    ("w4", "one hot key, 64 tasks in one process, not held"),
    (
        "w5",
        "readers and writers on a hot key: 2 processes with 8 tasks, 95 % reads, held 1 ms",
    ),
    ("w6", "a process with a 2 s lease is killed"),
    ("w7", "held locks renewed"),
    ("w8", "the attribute against the guard, in memory"),
    ("w9", "memory over lock/unlock pairs on distinct keys"),
    (
        "w10",
        "growth: what one operation takes the server as more hold a lock or wait for it",
    ),
    (
        "w10-sums",
        "growth: what it takes in sum when many come or go",
    ),
    (
        "w11",
        "a key that one process uses again and again, with `linger`",
    ),
    (
        "w12",
        "a lock with `linger` that one process uses all the time: what another process waits",
    ),
    (
        "w12-turns",
        "a lock that goes to and fro between two processes, without `linger` and with it",
    ),
    (
        "w13",
        "storm: as many waiters of one client as there are held locks, and then their messages are cut off",
    ),
    (
        "quorum-1",
        "a lock on most of five servers: one process, acquire and release",
    ),
    (
        "quorum-8",
        "a lock on most of five servers: one hot key, 8 processes, held 1 ms",
    ),
    (
        "away-none",
        "the same with a proxy in front of one of the five, all there",
    ),
    ("away-shutdown", "the same with one of the five shut down"),
    ("away-hung", "the same with one of the five stopped"),
    (
        "away-refusing",
        "the same with one of the five refusing connections",
    ),
    (
        "away-slow",
        "the same with one of the five answering 200 ms later",
    ),
    ("calls", "what the server spends on the scripts of w2"),
    (
        "sizing-held",
        "one client holds many locks, with a lease of 30 s",
    ),
    ("sizing-waiting", "many wait in one line, each by itself"),
    ("sizing-processes", "many processes on one hot key"),
];

/// Where and how thoroughly to measure.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) standalone: Site,
    pub(crate) cluster: Site,
    pub(crate) effort: Effort,
    pub(crate) repeats: usize,
    pub(crate) systems: Vec<Kind>,
}

impl Lab {
    /// One of three values, by thoroughness.
    pub(crate) fn pick<T>(&self, smoke: T, quick: T, full: T) -> T {
        self.effort.pick(smoke, quick, full)
    }

    /// The systems of `kinds` that the options ask for.
    pub(crate) fn chosen<'a>(&'a self, kinds: &'a [Kind]) -> impl Iterator<Item = Kind> + 'a {
        let wanted = |kind: &Kind| self.systems.contains(kind);
        kinds.iter().copied().filter(wanted)
    }

    /// The server and the cluster.
    pub(crate) fn sites(&self) -> [&Site; 2] {
        [&self.standalone, &self.cluster]
    }

    /// Keeps their servers and this process on different processors.
    pub(crate) fn kept_apart(&self) -> KeptApart {
        let servers = self.sites().into_iter().flat_map(Site::nodes);
        KeptApart::new(servers.map(RedisServer::pid))
    }

    /// Every site with the systems that work there.
    pub(crate) fn places(&self) -> Vec<(&Site, Kind)> {
        let standalone = self.chosen(&Kind::ALL).map(|kind| (&self.standalone, kind));
        let cluster = self
            .chosen(&Kind::CLUSTER)
            .map(|kind| (&self.cluster, kind));
        standalone.chain(cluster).collect()
    }
}

/// All workloads, as they are asked for.
pub(crate) const NAMES: [&str; 17] = [
    "w1", "w2", "calls", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13",
    "quorum", "away", "sizing",
];

/// The workloads that measure dlock's read/write lock and nothing else.
const OWN: [&str; 9] = [
    "calls", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "sizing",
];

/// Whether the options ask for this workload, by naming it or none.
pub(crate) fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|only| only == name)
}

/// Runs the workloads called one of `only`, or all.
pub(crate) async fn run(lab: &Lab, only: &[String], results: &mut Results) {
    let measures_own = lab.systems.contains(&Kind::Dlock);
    for name in NAMES.into_iter().filter(|name| is_wanted(only, name)) {
        eprintln!("{name}");
        if OWN.contains(&name) && !measures_own {
            continue;
        }
        match name {
            "w1" => latency::run(lab, results).await,
            "w2" => throughput::run(lab, results).await,
            "calls" => calls::run(lab, results).await,
            "w3" => hot_key::run(lab, results).await,
            "w4" => tasks::run(lab, results).await,
            "w5" => readers::run(lab, results).await,
            "w6" => crash::run(lab, results).await,
            "w7" => renewal::run(lab, results).await,
            "w8" => attribute::run(lab, results).await,
            "w9" => leak::run(lab, results).await,
            "w10" => growth::run(lab, results).await,
            "w11" => linger::run(lab, results).await,
            "w12" => linger::run_strangers(lab, results).await,
            "w13" => storm::run(lab, results).await,
            "quorum" => quorum::run(lab, results).await,
            "away" => quorum::run_away(lab, results).await,
            "sizing" => sizing::run(lab, results).await,
            _ => unreachable!("{name} is listed and not known"),
        }
    }
}
