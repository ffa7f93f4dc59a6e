//! w4: one hot key, many tasks of one process; and what another process gets to see of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{
    LEASE, Lab,
    contest::{Contender, Contest, Outcome},
};
use crate::{
    measure::{Samples, client_cpu, count},
    results::Results,
    server::Site,
    system::{Kind, Mode, Polling, Setup, System, with_system},
};

const TASKS: usize = 64;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let lasts = Duration::from_millis(lab.pick(400, 1000, 2000));
    for _ in 0..lab.repeats {
        for kind in lab.chosen(&Kind::LOCKS) {
            one(&lab.standalone, results, kind, lasts).await;
        }
        for kind in lab.chosen(&Kind::OURS) {
            one(&lab.cluster, results, kind, lasts).await;
        }
    }
}

async fn one(site: &Site, results: &mut Results, kind: Kind, lasts: Duration) {
    let label = site.label(kind);
    let setup = site.setup(LEASE);
    let alone = with_system!(kind, S => crowd::<S>(kind, &setup, lasts).await);
    let all = count(alone.shares.iter().sum());
    let mut add = |metric, unit, value| results.add("w4", &label, metric, unit, value);
    add("acquisitions", "1/s", all / lasts.as_secs_f64());
    add("client CPU", "us/acquisition", alone.cpu * 1e6 / all);
    add("wait max", "ms", alone.wait.as_secs_f64() * 1e3);
    let shares: Samples = alone.shares.iter().map(|share| count(*share)).collect();
    add("fewest of a task", "1", shares.percentile(0.0));
    add("most of a task", "1", shares.max());
    site.flush().await;

    // The tasks of one process, and another process that wants the key now and then.
    let contest = Contest {
        kind,
        polling: Polling::Tuned,
        processes: 1,
        tasks: 1,
        writes: 1000,
        hold: Duration::ZERO,
        think: Duration::from_millis(20),
        lasts,
        lease: LEASE,
        workload: "w4",
    };
    let mut other = Contender::start(&contest, site).await;
    other.go().await;
    let beside = with_system!(kind, S => crowd::<S>(kind, &setup, lasts).await);
    let mut outcome = Outcome::default();
    other.finish(&mut outcome).await;
    let all = count(beside.shares.iter().sum());
    add(
        "acquisitions beside another process",
        "1/s",
        all / lasts.as_secs_f64(),
    );
    add("its wait p50", "ms", outcome.writes.median() / 1e3);
    add("its wait p99", "ms", outcome.writes.percentile(0.99) / 1e3);
    add("its wait max", "ms", outcome.writes.max() / 1e3);
    add("its acquisitions", "1", count(outcome.writes.len()));
    site.flush().await;
}

struct Crowd {
    shares: Vec<usize>,
    wait: Duration,
    cpu: f64,
}

async fn crowd<S: System>(kind: Kind, setup: &Setup, lasts: Duration) -> Crowd {
    let system = S::connect(setup).await;
    let key: Arc<str> = kind.key("w4", "hot").into();
    let (start, cpu) = (Instant::now(), client_cpu());
    let mut running = JoinSet::new();
    for _ in 0..TASKS {
        let (system, key) = (system.clone(), Arc::clone(&key));
        running.spawn(async move {
            let (mut share, mut longest) = (0, Duration::ZERO);
            loop {
                let asked = Instant::now();
                if asked - start >= lasts {
                    return (share, longest);
                }
                let granted = system.locked(Mode::Write, &key, async { Instant::now() });
                let granted = granted.await;
                longest = longest.max(granted - asked);
                share += usize::from(granted - start < lasts);
            }
        });
    }
    let tasks = running.join_all().await;
    Crowd {
        wait: tasks
            .iter()
            .map(|(_, wait)| *wait)
            .max()
            .unwrap_or_default(),
        shares: tasks.into_iter().map(|(share, _)| share).collect(),
        cpu: client_cpu() - cpu,
    }
}
