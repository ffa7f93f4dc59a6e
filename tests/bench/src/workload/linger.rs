//! w11: a lock that its process keeps for the next task. w12: what another process gets to see of that.

use std::time::{Duration, Instant};

use dlock::{Client, RwLock};
use dlock_tests::FaultProxy;
use tokio::task::JoinSet;

use super::{LEASE, Lab};
use crate::{
    measure::{Samples, count},
    results::Results,
    server::Site,
    system::{Kind, Mode, Setup, client},
};

const LINGER: Duration = Duration::from_secs(1);
const READERS: usize = 64;
/// How often another process asks.
const ASKS: Duration = Duration::from_millis(50);

fn lock(client: &Client, workload: &str, linger: Option<Duration>) -> RwLock {
    let lock = client.rw_lock(Kind::Dlock.key(workload, "hot"));
    let lock = lock.expect("a valid name");
    match linger {
        Some(linger) => lock.linger(linger),
        None => lock,
    }
}

async fn pair(lock: &RwLock, mode: Mode) {
    match mode {
        Mode::Read => lock.read().await.expect("served").release().await,
        Mode::Write => lock.write().await.expect("served").release().await,
    }
    .expect("held to the end");
}

/// How many pairs tasks of one client make.
async fn work(lock: &RwLock, mode: Mode, tasks: usize, lasts: Duration) -> usize {
    let start = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..tasks {
        let lock = lock.clone();
        running.spawn(async move {
            let mut pairs = 0;
            while start.elapsed() < lasts {
                for _ in 0..100 {
                    pair(&lock, mode).await;
                }
                pairs += 100;
                tokio::task::yield_now().await;
            }
            pairs
        });
    }
    running.join_all().await.into_iter().sum()
}

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let lasts = Duration::from_millis(lab.pick(200, 1000, 3000));
    for _ in 0..lab.repeats {
        for site in lab.sites() {
            let label = site.label(Kind::Dlock);
            let mut row = results.row("w11", &label);
            let client = client(&site.setup(LEASE)).await;
            let lock = lock(&client, "w11", Some(LINGER));
            pair(&lock, Mode::Write).await;
            let before = site.commands().await;
            let pairs = work(&lock, Mode::Write, 1, lasts).await;
            let commands = site.commands().await.since(&before);
            let (sent, _) = commands.sent_and_inside(Kind::Dlock);
            row.add("pairs of a task", "1/s", count(pairs) / lasts.as_secs_f64());
            row.add("commands", "1/pair", sent / count(pairs));
            let pairs = work(&lock, Mode::Read, READERS, lasts).await;
            row.add(
                "pairs of 64 readers",
                "1/s",
                count(pairs) / lasts.as_secs_f64(),
            );
            client.shutdown().await.expect("given back");
            site.flush().await;
        }
    }
}

pub(super) async fn run_strangers(lab: &Lab, results: &mut Results) {
    let asks = lab.pick(4, 40, 200);
    for _ in 0..lab.repeats {
        for site in lab.sites() {
            let label = site.label(Kind::Dlock);
            let waits = stranger(site, &site.setup(LEASE), asks).await;
            let mut row = results.row("w12", &label);
            row.add("wait p50", "ms", waits.median());
            row.add("wait p99", "ms", waits.percentile(0.99));
            row.add("wait max", "ms", waits.max());
            let lasts = Duration::from_secs(lab.pick(0, 2, 10));
            let without = alternate(site, None, lasts).await;
            let with = alternate(site, Some(LINGER), lasts).await;
            let mut row = results.row("w12-turns", &label);
            row.add("turns", "1/s", without);
            row.add("turns with linger", "1/s", with);
        }
        let proxy = FaultProxy::start(lab.standalone.nodes()[0].addr());
        let setup = Setup {
            url: proxy.url(),
            ..lab.standalone.setup(LEASE)
        };
        proxy.drop_revokes(true);
        let waits = stranger(&lab.standalone, &setup, asks).await;
        let mut row = results.row("w12", "dlock, requests for the lock swallowed");
        row.add("wait p50", "ms", waits.median());
        row.add("wait p99", "ms", waits.percentile(0.99));
        row.add("wait max", "ms", waits.max());
    }
}

/// How long another process waits, in ms, for a lock that one process, connected by `setup`, uses all the time.
async fn stranger(site: &Site, setup: &Setup, asks: usize) -> Samples {
    let (busy, other) = (client(setup).await, client(&site.setup(LEASE)).await);
    let used = lock(&busy, "w12", Some(LINGER));
    let user_at_work = tokio::spawn(async move {
        loop {
            work(&used, Mode::Write, 1, LEASE).await;
        }
    });
    let wanted = lock(&other, "w12", None);
    let mut waits = Samples::default();
    for _ in 0..asks {
        tokio::time::sleep(ASKS).await;
        let asked = Instant::now();
        let guard = wanted.write().await.expect("served");
        waits.add(asked.elapsed().as_secs_f64() * 1e3);
        guard.release().await.expect("held to the end");
    }
    user_at_work.abort();
    site.flush().await;
    waits
}

/// How many times a second the lock goes from one process to another and back.
async fn alternate(site: &Site, linger: Option<Duration>, lasts: Duration) -> f64 {
    let setup = site.setup(LEASE);
    let (one, two) = (client(&setup).await, client(&setup).await);
    let (one, two) = (lock(&one, "w12", linger), lock(&two, "w12", linger));
    let start = Instant::now();
    let mut turns = 0;
    while turns == 0 || start.elapsed() < lasts {
        pair(&one, Mode::Write).await;
        pair(&two, Mode::Write).await;
        turns += 1;
    }
    let rate = count(turns) / start.elapsed().as_secs_f64();
    site.flush().await;
    rate
}
