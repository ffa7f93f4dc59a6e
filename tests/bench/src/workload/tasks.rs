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
    measure::{client_cpu, count},
    results::Results,
    server::Site,
    system::{Kind, Mode, Setup, System, with_system},
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
    let mut row = results.row("w4", &label);
    row.add("acquisitions", "1/s", alone.all() / lasts.as_secs_f64());
    let cpu = alone.cpu * 1e6 / alone.all();
    row.add("client CPU", "us/acquisition", cpu);
    row.add("wait max", "ms", alone.wait.as_secs_f64() * 1e3);
    row.add_extremes(["fewest of a task", "most of a task"], &alone.shares);
    site.flush().await;

    // The tasks of one process, and another process that wants the key now and then.
    let contest = Contest {
        think: Duration::from_millis(20),
        ..Contest::new(kind, "w4", lasts)
    };
    let mut other = Contender::start(&contest, site).await;
    other.go().await;
    let beside = with_system!(kind, S => crowd::<S>(kind, &setup, lasts).await);
    let mut outcome = Outcome::default();
    other.finish(&mut outcome).await;
    let rate = beside.all() / lasts.as_secs_f64();
    row.add("acquisitions beside another process", "1/s", rate);
    let waits = &outcome.writes;
    row.add_waits(["its wait p50", "its wait p99", "its wait max"], waits);
    row.add("its acquisitions", "1", count(waits.len()));
    site.flush().await;
}

struct Crowd {
    shares: Vec<usize>,
    wait: Duration,
    cpu: f64,
}

impl Crowd {
    /// The acquisitions of all tasks.
    fn all(&self) -> f64 {
        count(self.shares.iter().sum())
    }
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
    let (shares, waits): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
    Crowd {
        wait: waits.into_iter().max().unwrap_or_default(),
        shares,
        cpu: client_cpu() - cpu,
    }
}
