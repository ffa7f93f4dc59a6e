//! What more locks, waiters and processes cost: the figures of the guide's table, and of its rule for sizes.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{
    LEASE, Lab,
    contest::{self, Contest},
    load::Load,
    many,
};
use crate::{
    measure::{count, resident_bytes},
    results::{Results, Row, markdown_table, readable},
    server::Site,
    system::{Kind, client},
};

const HELD: &str = "sizing-held";
const WAITING: &str = "sizing-waiting";
const PROCESSES: &str = "sizing-processes";
/// Of what sizes the rule is made, and which it has to predict.
const FROM: [usize; 2] = [1000, 30_000];
const PREDICTED: [usize; 2] = [10_000, 100_000];
const HOLD: Duration = Duration::from_millis(1);
/// How often the waiters are counted, and how long at most.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_mins(2);

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let site = &lab.standalone;
    let lease = lab.pick(Duration::from_secs(2), Duration::from_secs(6), LEASE);
    // Memory that is free again stays with the process, so the sizes grow, and all start from the same.
    let memory = resident_bytes();
    let sizes: &[usize] = lab.pick(
        &[1, 100],
        &[1, 1000, 10_000],
        &[1, 1000, 10_000, 30_000, 100_000],
    );
    for holds in sizes {
        let label = label(*holds);
        held(site, *holds, lease, memory, &mut results.row(HELD, &label)).await;
    }
    for waiters in lab.pick(&[1, 10][..], &[1, 100, 1000], &[1, 100, 1000, 10_000]) {
        let label = format!("{waiters} waiters on one lock");
        waiting(site, *waiters, lease, &mut results.row(WAITING, &label)).await;
    }
    for processes in lab.pick(&[2][..], &[20], &[8, 200]) {
        let lasts = Duration::from_millis(lab.pick(200, 2000, 20_000));
        let contest = Contest {
            processes: *processes,
            hold: HOLD,
            ..Contest::new(Kind::Dlock, "sizing", lasts)
        };
        let outcome = contest::run(&contest, site).await;
        let label = format!("{processes} processes on one key, held 1 ms");
        let mut row = results.row(PROCESSES, &label);
        row.add("acquisitions", "1/s", outcome.rate(&contest));
        outcome.add_waits(&mut row);
        outcome.add_shares(&mut row);
    }
}

fn label(holds: usize) -> String {
    format!("{holds} held locks")
}

/// What the sizing rule says of the sizes that it is not made from, beside what was measured.
pub(crate) fn rule(results: &Results) -> String {
    let rows = results.metrics(HELD).into_iter();
    let rows = rows.filter_map(|(metric, unit)| {
        let at = |holds| results.get(HELD, &label(holds), metric);
        let [few, many] = FROM;
        let each = (at(many)? - at(few)?) / (count(many) - count(few));
        let shown = if unit == "MB" { each * 1e6 } else { each };
        let mut cells = vec![readable(shown)];
        for holds in PREDICTED {
            let said = at(few)? + each * (count(holds) - count(few));
            cells.extend([said, at(holds)?].map(readable));
        }
        (each != 0.0).then_some((metric, cells))
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let [few, many] = FROM;
    let mut headings = vec!["each (memory in bytes)".to_owned()];
    for holds in PREDICTED {
        headings.extend(["rule", "measured"].map(|what| format!("{holds}: {what}")));
    }
    let title = format!("a held lock more, by {few} and {many} of them");
    markdown_table(&title, " ", &headings, rows)
}

/// What one client spends that holds so many locks. `memory` is what it had before.
async fn held(site: &Site, holds: usize, lease: Duration, memory: usize, row: &mut Row<'_>) {
    let server = site.memory().await;
    let client = client(&site.setup(lease)).await;
    let guards = many::hold(&client, HELD, holds).await;
    row.add(
        "client memory",
        "MB",
        (count(resident_bytes()) - count(memory)) / 1e6,
    );
    row.add("server memory", "MB", (site.memory().await - server) / 1e6);
    // Each lock is renewed at a third of its lease.
    let window = lease / 3 * 2;
    add_load(site, window, row).await;
    let lost = guards.iter().filter(|guard| guard.is_lost()).count();
    row.add("lost", "1", count(lost));
    drop(guards);
    client.shutdown().await.expect("the releases are delivered");
    site.flush().await;
}

/// Measures the load of so many waiters in one line on the server, and how fast the line moves. Each owner waits there by itself.
async fn waiting(site: &Site, waiters: usize, lease: Duration, row: &mut Row<'_>) {
    let setup = site.setup(lease);
    let (holder, waiting) = (client(&setup).await, client(&setup).await);
    let key = Kind::Dlock.key(WAITING, "hot");
    let lock = holder.rw_lock(&key).expect("a valid name");
    let guard = lock.write().await.expect("the lock is free");
    let mut acquires = JoinSet::new();
    for n in 0..waiters {
        let lock = waiting.rw_lock(&key).expect("a valid name");
        let lock = lock.owner(format!("owner {n}"));
        acquires.spawn(async move {
            let guard = lock.write().await.expect("its turn comes");
            guard.release().await.expect("the lock was held");
        });
    }
    let start = Instant::now();
    let in_line = async || {
        lock.inspect()
            .await
            .is_ok_and(|info| usize::try_from(info.waiter_count()) == Ok(waiters))
    };
    while !in_line().await {
        assert!(
            start.elapsed() < PATIENCE,
            "not all of {waiters} are in line"
        );
        tokio::time::sleep(LOOK).await;
    }
    add_load(site, lease / 3, row).await;
    let released = Instant::now();
    guard.release().await.expect("the lock was held");
    acquires.join_all().await;
    let each = released.elapsed().as_secs_f64() * 1e6 / count(waiters);
    row.add("hand-over", "us", each);
    holder.shutdown().await.expect("nothing is left");
    waiting.shutdown().await.expect("nothing is left");
    site.flush().await;
}

/// Measures the load from now on.
async fn add_load(site: &Site, window: Duration, row: &mut Row<'_>) {
    let load = Load::measure(site, window).await;
    row.add("requests", "1/s", load.sent);
    row.add("client CPU", "us/s", load.client_cpu * 1e6);
    row.add("server CPU", "us/s", load.server_cpu * 1e6);
}
