//! w3: one hot key, several processes.

use std::time::{Duration, Instant};

use super::{LEASE, Lab, contest};
use crate::{
    measure::{Samples, count},
    results::Results,
    server::Site,
    system::{Empty, Kind, Mode, Polling, Setup, System},
};

const HOLD: Duration = Duration::from_millis(1);
/// The shortest time in which one client acquires alone, to be compared with.
const SHORTEST: Duration = Duration::from_millis(100);

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let lasts = Duration::from_millis(lab.pick(150, 2000, 10_000));
    for _ in 0..lab.repeats {
        for (workload, processes) in [("w3-2", 2), ("w3-8", 8), ("w3-32", 32)] {
            let run = |kind, polling| contest::Contest {
                kind,
                polling,
                processes,
                tasks: 1,
                writes: 1000,
                hold: HOLD,
                think: Duration::ZERO,
                lasts,
                lease: LEASE,
                workload: "w3",
            };
            for kind in lab.chosen(&Kind::LOCKS) {
                let contest = run(kind, Polling::Tuned);
                let label = contest.polling.label(kind);
                one(&lab.standalone, results, workload, &label, &contest).await;
            }
            for kind in lab.chosen(&Kind::OURS) {
                let label = lab.cluster.label(kind);
                let contest = run(kind, Polling::Tuned);
                one(&lab.cluster, results, workload, &label, &contest).await;
            }
            if processes != 8 {
                continue;
            }
            for kind in lab.chosen(&Kind::BARGING) {
                let contest = run(kind, Polling::AsShipped);
                let label = contest.polling.label(kind);
                one(&lab.standalone, results, workload, &label, &contest).await;
            }
        }
    }
}

async fn one(
    site: &Site,
    results: &mut Results,
    workload: &'static str,
    label: &str,
    contest: &contest::Contest<'_>,
) {
    let round_trip = round_trip(site.setup(LEASE)).await;
    let before = ideal(site, contest).await;
    let outcome = contest::run(contest, site).await;
    let ideal = f64::midpoint(before, ideal(site, contest).await);
    let all = count(outcome.writes.len());
    let rate = outcome.acquisitions() / contest.lasts.as_secs_f64();
    let (sent, inside) = outcome.commands.sent_and_inside(contest.kind);
    let mut add = |metric, unit, value| results.add(workload, label, metric, unit, value);
    add("acquisitions", "1/s", rate);
    add(
        "of what hold + 2 round trips allow",
        "%",
        100.0 * rate / ideal,
    );
    // Back to back, a round trip takes less: client and server keep each other awake.
    let back_to_back = 1e6 / (outcome.holds.mean() + 2.0 * round_trip);
    add("of that back to back", "%", 100.0 * rate / back_to_back);
    add("wait p50", "ms", outcome.writes.median() / 1e3);
    add("wait p99", "ms", outcome.writes.percentile(0.99) / 1e3);
    add("wait max", "ms", outcome.writes.max() / 1e3);
    let shares: Samples = outcome.shares.iter().map(|share| count(*share)).collect();
    add("fewest of a process", "1", shares.percentile(0.0));
    add("most of a process", "1", shares.max());
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let (sent, inside) = (sent as f64, inside as f64);
    add("round trips", "1/acquisition", sent / all);
    add("commands in scripts", "1/acquisition", inside / all);
    add(
        "client CPU",
        "us/acquisition",
        outcome.client_cpu * 1e6 / all,
    );
    add(
        "server CPU",
        "us/acquisition",
        outcome.server_cpu * 1e6 / all,
    );
    add("hold", "us", outcome.holds.mean());
    add("round trip", "us", round_trip);
}

/// The acquisitions per second of one process that locks nothing: between two of its holds there are two
/// round trips of empty scripts, as far apart as in the contest, and nothing else.
async fn ideal(site: &Site, contest: &contest::Contest<'_>) -> f64 {
    let alone = contest::Contest {
        kind: Kind::Empty,
        processes: 1,
        lasts: (contest.lasts / 5).max(SHORTEST),
        ..*contest
    };
    let outcome = contest::run(&alone, site).await;
    outcome.acquisitions() / alone.lasts.as_secs_f64()
}

/// The median round trip of an empty script right now, in us.
async fn round_trip(setup: Setup) -> f64 {
    let pairs = tokio::spawn(async move {
        let system = Empty::connect(&setup).await;
        let key = Kind::Empty.key("w3", "hot");
        let mut samples = Samples::default();
        for _ in 0..300 {
            let start = Instant::now();
            system.locked(Mode::Write, &key, async {}).await;
            samples.add(start.elapsed().as_secs_f64() * 1e6);
        }
        samples
    });
    pairs.await.expect("the task ends well").median() / 2.0
}
