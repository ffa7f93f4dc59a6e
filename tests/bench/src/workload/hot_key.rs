//! w3: one hot key, several processes.

use std::time::{Duration, Instant};

use super::{
    LEASE, Lab,
    contest::{self, Contest},
};
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
            for (site, kinds, polling) in [
                (&lab.standalone, &Kind::LOCKS[..], Polling::Tuned),
                (&lab.cluster, &Kind::OURS, Polling::Tuned),
                (&lab.standalone, &Kind::BARGING, Polling::AsShipped),
            ] {
                if polling == Polling::AsShipped && processes != 8 {
                    continue;
                }
                for kind in lab.chosen(kinds) {
                    let contest = Contest {
                        polling,
                        processes,
                        hold: HOLD,
                        ..Contest::new(kind, "w3", lasts)
                    };
                    one(site, results, workload, &contest).await;
                }
            }
        }
    }
}

async fn one(site: &Site, results: &mut Results, workload: &'static str, contest: &Contest) {
    let round_trip = round_trip(site.setup(LEASE)).await;
    let before = ideal(site, contest).await;
    let outcome = contest::run(contest, site).await;
    let ideal = f64::midpoint(before, ideal(site, contest).await);
    let all = count(outcome.writes.len());
    let rate = outcome.rate(contest);
    let (sent, inside) = outcome.commands.sent_and_inside(contest.kind);
    let label = contest.polling.label(site.label(contest.kind));
    let mut row = results.row(workload, &label);
    row.add("acquisitions", "1/s", rate);
    let share = 100.0 * rate / ideal;
    row.add("of what hold + 2 round trips allow", "%", share);
    // Back to back, a round trip takes less: client and server keep each other awake.
    let back_to_back = 1e6 / (outcome.holds.mean() + 2.0 * round_trip);
    row.add("of that back to back", "%", 100.0 * rate / back_to_back);
    outcome.add_waits(&mut row);
    outcome.add_shares(&mut row);
    row.add("round trips", "1/acquisition", sent / all);
    row.add("commands in scripts", "1/acquisition", inside / all);
    outcome.add_cpu(&mut row);
    row.add("hold", "us", outcome.holds.mean());
    row.add("round trip", "us", round_trip);
}

/// The acquisitions per second of one process that locks nothing: between two of its holds there are two
/// round trips of empty scripts, as far apart as in the contest, and nothing else.
async fn ideal(site: &Site, contest: &Contest) -> f64 {
    let alone = Contest {
        kind: Kind::Empty,
        processes: 1,
        lasts: (contest.lasts / 5).max(SHORTEST),
        ..*contest
    };
    contest::run(&alone, site).await.rate(&alone)
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
