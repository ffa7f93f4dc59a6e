//! w5: readers and writers on a hot key.

use std::time::Duration;

use super::{LEASE, Lab, contest};
use crate::{
    measure::count,
    results::Results,
    server::Site,
    system::{Kind, Polling},
};

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let lasts = Duration::from_millis(lab.pick(200, 2000, 5000));
    for _ in 0..lab.repeats {
        for kind in lab.chosen(&Kind::READ_WRITE) {
            one(&lab.standalone, results, kind, lasts).await;
        }
        if lab.systems.contains(&Kind::Dlock) {
            one(&lab.cluster, results, Kind::Dlock, lasts).await;
        }
    }
}

async fn one(site: &Site, results: &mut Results, kind: Kind, lasts: Duration) {
    let contest = contest::Contest {
        kind,
        polling: Polling::Tuned,
        processes: 2,
        tasks: 8,
        writes: 50,
        hold: Duration::from_millis(1),
        think: Duration::ZERO,
        lasts,
        lease: LEASE,
        workload: "w5",
    };
    let outcome = contest::run(&contest, site).await;
    let label = site.label(kind);
    let all = count(outcome.writes.len() + outcome.reads.len());
    let (sent, _) = outcome.commands.sent_and_inside(kind);
    let mut add = |metric, unit, value| results.add("w5", &label, metric, unit, value);
    add(
        "operations",
        "1/s",
        outcome.acquisitions() / lasts.as_secs_f64(),
    );
    add("writer wait p50", "ms", outcome.writes.median() / 1e3);
    add(
        "writer wait p99",
        "ms",
        outcome.writes.percentile(0.99) / 1e3,
    );
    add("writer wait max", "ms", outcome.writes.max() / 1e3);
    add("reader wait p50", "ms", outcome.reads.median() / 1e3);
    add(
        "reader wait p99",
        "ms",
        outcome.reads.percentile(0.99) / 1e3,
    );
    add("reader wait max", "ms", outcome.reads.max() / 1e3);
    add("writes", "1", count(outcome.writes.len()));
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    add("round trips", "1/operation", sent as f64 / all);
}
