//! w13: many locks are held by one client, and another one waits for each of them; then the servers end the connections
//! on which it is told.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Lab, load::Load, many};
use crate::{
    measure::count,
    results::{Results, Row},
    server::Site,
    system::{Kind, client},
};

const WORKLOAD: &str = "w13";
const LEASE: Duration = Duration::from_secs(3);
/// How often the subscriptions are counted.
const LOOK: Duration = Duration::from_millis(20);
/// After so long the workload is given up.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let waiters = lab.pick(50, 1000, 3000);
    // Without another subscription for so long, there is none to come.
    let window = Duration::from_millis(lab.pick(500, 2000, 5000));
    for _ in 0..lab.repeats {
        for site in lab.sites() {
            let label = site.label(Kind::Dlock);
            let mut row = results.row(WORKLOAD, &label);
            storm(site, waiters, window, &mut row).await;
            site.flush().await;
        }
    }
}

async fn storm(site: &Site, waiters: usize, window: Duration, row: &mut Row<'_>) {
    let setup = site.setup(LEASE);
    let (holder, waiting) = (client(&setup).await, client(&setup).await);
    let guards = many::hold(&holder, WORKLOAD, waiters).await;
    let (start, before) = (Instant::now(), site.commands().await);
    let mut acquires = JoinSet::new();
    for n in 0..waiters {
        let lock = waiting.rw_lock(Kind::Dlock.key(WORKLOAD, n));
        let lock = lock.expect("a valid name");
        acquires.spawn(async move {
            let guard = lock.write().await.expect("its turn comes");
            guard.release().await.expect("the lock was held");
        });
    }
    let all_asked = async || site.commands().await.since(&before).scripts() >= count(waiters);
    while !all_asked().await && start.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK).await;
    }
    let (subscribed, subscriptions) = all_subscribed(site, 1, start, window).await;
    let settled = Load::measure(site, window).await;
    let cut = Instant::now();
    for node in site.nodes() {
        node.query::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"])
            .await;
    }
    let again = all_subscribed(site, subscriptions, cut, window);
    let (cut, (again, _)) = tokio::join!(Load::measure(site, window), again);
    let lost = guards.iter().filter(|guard| guard.is_lost()).count();
    let released = Instant::now();
    drop(guards);
    acquires.join_all().await;
    let handed_over = released.elapsed();
    holder.shutdown().await.expect("the releases are delivered");
    waiting.shutdown().await.expect("nothing is left");
    row.add("waiters", "1", count(waiters));
    row.add("subscribed after", "s", subscribed.as_secs_f64());
    row.add("scripts settled", "1/s", settled.scripts);
    row.add(
        "server CPU settled",
        "% of a core",
        settled.server_cpu * 100.0,
    );
    row.add("scripts after the cut", "1/s", cut.scripts);
    row.add(
        "server CPU after the cut",
        "% of a core",
        cut.server_cpu * 100.0,
    );
    row.add("again after", "s", again.as_secs_f64());
    row.add("lost", "1", count(lost));
    row.add("all handed over after", "s", handed_over.as_secs_f64());
}

/// How long after `start` the last of `least` subscriptions or more was made, and how many there are then. A client may
/// hear of many locks through one.
async fn all_subscribed(
    site: &Site,
    least: usize,
    start: Instant,
    quiet: Duration,
) -> (Duration, usize) {
    let (mut seen, mut since) = (0, start);
    while start.elapsed() < PATIENCE {
        let subscriptions = site.subscriptions().await;
        if subscriptions != seen {
            (seen, since) = (subscriptions, Instant::now());
        }
        if seen >= least && since.elapsed() >= quiet {
            return (since - start, seen);
        }
        tokio::time::sleep(LOOK).await;
    }
    (start.elapsed(), seen)
}
