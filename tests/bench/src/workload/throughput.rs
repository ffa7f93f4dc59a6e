//! w2: many tasks, many keys, no contention.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{LEASE, Lab};
use crate::{
    measure::{client_cpu, count},
    results::Results,
    system::{Kind, Mode, Setup, System, with_system},
};

const KEYS: usize = 10_000;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let duration = Duration::from_millis(lab.pick(50, 400, 1000));
    for _ in 0..lab.repeats * lab.pick(1, 2, 2) {
        for (workload, tasks) in [("w2-64", 64), ("w2-256", 256)] {
            for (site, kind) in lab.places() {
                let label = site.label(kind);
                let setup = site.setup(LEASE);
                let server = site.cpu().await;
                let load = with_system!(kind, S => load::<S>(kind, &setup, tasks, duration).await);
                let server = site.cpu().await - server;
                let pairs = count(load.pairs);
                let rate = pairs / load.took.as_secs_f64();
                let mut row = results.row(workload, &label);
                row.add("pairs", "1/s", rate);
                row.add("client CPU", "us/pair", load.client * 1e6 / pairs);
                row.add("server CPU", "us/pair", server * 1e6 / pairs);
                site.flush().await;
            }
        }
    }
}

struct Load {
    pairs: usize,
    took: Duration,
    client: f64,
}

async fn load<S: System>(kind: Kind, setup: &Setup, tasks: usize, duration: Duration) -> Load {
    let system = S::connect(setup).await;
    let keys: Arc<[String]> = (0..KEYS).map(|n| kind.key("w2", n)).collect();
    let (start, cpu) = (Instant::now(), client_cpu());
    let mut running = JoinSet::new();
    for task in 0..tasks {
        let (system, keys) = (system.clone(), Arc::clone(&keys));
        running.spawn(async move {
            let mut pairs = 0;
            // Keys of its own, so that no two tasks meet.
            for key in keys.iter().skip(task).step_by(tasks).cycle() {
                if start.elapsed() >= duration {
                    break;
                }
                system.locked(Mode::Write, key, async {}).await;
                pairs += 1;
            }
            pairs
        });
    }
    let pairs = running.join_all().await.into_iter().sum();
    Load {
        pairs,
        took: start.elapsed(),
        client: client_cpu() - cpu,
    }
}
