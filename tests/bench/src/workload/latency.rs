//! w1: one task, distinct keys.

use std::time::Instant;

use dlock_tests::RedisServer;

use super::{LEASE, Lab};
use crate::{
    measure::{KeptApart, Samples},
    results::Results,
    server::Site,
    system::{Mode, Setup, System, with_system},
};

const WARM_UP: usize = 100;
const PAIRS: usize = 500;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let sites = [&lab.standalone, &lab.cluster];
    let servers = sites.into_iter().flat_map(Site::nodes);
    let _apart = KeptApart::new(servers.map(RedisServer::pid));
    for round in 0..lab.pick(6, 30) {
        // Each has its turn behind each of the others.
        let mut places = lab.places();
        let first = round % places.len();
        places.rotate_left(first);
        for (site, kind) in places {
            let setup = site.setup(LEASE);
            let pairs = with_system!(kind, S => tokio::spawn(pairs::<S>(setup, round)));
            let pairs = pairs.await.expect("the task ends well");
            let label = site.label(kind);
            results.add("w1", &label, "p50", "us", pairs.median());
            results.add("w1", &label, "p99", "us", pairs.percentile(0.99));
            site.flush().await;
        }
    }
}

async fn pairs<S: System>(setup: Setup, round: usize) -> Samples {
    let system = S::connect(&setup).await;
    let mut samples = Samples::default();
    for n in 0..WARM_UP + PAIRS {
        let key = format!("bench:{round}:{n}");
        let start = Instant::now();
        system.locked(Mode::Write, &key, async {}).await;
        if n >= WARM_UP {
            samples.add(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    samples
}
