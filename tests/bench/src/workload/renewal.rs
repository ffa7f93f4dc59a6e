//! w7: many held locks, renewed.

use std::time::{Duration, Instant};

use dlock::{Client, WriteGuard};
use tokio::task::JoinSet;

use super::{LEASE, Lab};
use crate::{
    measure::{client_cpu, count, resident_bytes},
    results::Results,
    server::Site,
    system::Kind,
};

const TASKS: usize = 64;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    if !lab.systems.contains(&Kind::Dlock) {
        return;
    }
    for site in [&lab.standalone, &lab.cluster] {
        one(lab, site, results).await;
    }
}

async fn one(lab: &Lab, site: &Site, results: &mut Results) {
    let (holds, lasts) = lab.pick((300, 1), (10_000, 15), (100_000, 60));
    let lasts = Duration::from_secs(lasts);
    let setup = site.setup(lab.pick(2 * lasts, LEASE, LEASE));
    let client = Client::builder().url(setup.url).lease(setup.lease);
    let client = client.build().await.expect("the servers answer");
    let memory = resident_bytes();
    let guards = acquire(&client, holds).await;
    let memory = resident_bytes().saturating_sub(memory);

    let (start, cpu, server) = (Instant::now(), client_cpu(), site.cpu().await);
    let before = site.commands().await;
    tokio::time::sleep(lasts).await;
    let took = start.elapsed().as_secs_f64();
    let cpu = (client_cpu() - cpu) / took;
    let server = (site.cpu().await - server) / took;
    let (sent, _) = site
        .commands()
        .await
        .since(&before)
        .sent_and_inside(Kind::Dlock);
    let lost = guards.iter().filter(|guard| guard.is_lost()).count();

    let label = site.label(Kind::Dlock);
    let mut add = |metric, unit, value| results.add("w7", &label, metric, unit, value);
    add("holds", "1", count(guards.len()));
    add("lost", "1", count(lost));
    add("client CPU", "% of a core", cpu * 100.0);
    add("server CPU", "% of a core", server * 100.0);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    add("renewals", "1/s", sent as f64 / took);
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    add(
        "client memory",
        "bytes/hold",
        memory as f64 / count(guards.len()),
    );
    drop(guards);
    client.shutdown().await.expect("the releases are delivered");
    site.flush().await;
}

async fn acquire(client: &Client, holds: usize) -> Vec<WriteGuard> {
    let mut running = JoinSet::new();
    for task in 0..TASKS {
        let client = client.clone();
        running.spawn(async move {
            let mut guards = Vec::new();
            for n in (task..holds).step_by(TASKS) {
                let lock = client
                    .rw_lock(Kind::Dlock.key("w7", n))
                    .expect("a valid name");
                guards.push(lock.write().await.expect("the lock is free"));
            }
            guards
        });
    }
    running.join_all().await.into_iter().flatten().collect()
}
