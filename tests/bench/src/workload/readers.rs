//! w5: readers and writers on a hot key.

use std::time::Duration;

use super::{
    Lab,
    contest::{self, Contest},
};
use crate::{measure::count, results::Results, server::Site, system::Kind};

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
    let contest = Contest {
        processes: 2,
        tasks: 8,
        writes: 50,
        hold: Duration::from_millis(1),
        ..Contest::new(kind, "w5", lasts)
    };
    let outcome = contest::run(&contest, site).await;
    let label = site.label(kind);
    let all = count(outcome.writes.len() + outcome.reads.len());
    let (sent, _) = outcome.commands.sent_and_inside(kind);
    let mut row = results.row("w5", &label);
    row.add("operations", "1/s", outcome.rate(&contest));
    let (writers, readers) = (&outcome.writes, &outcome.reads);
    row.add_waits(
        ["writer wait p50", "writer wait p99", "writer wait max"],
        writers,
    );
    row.add_waits(
        ["reader wait p50", "reader wait p99", "reader wait max"],
        readers,
    );
    row.add("writes", "1", count(writers.len()));
    row.add("round trips", "1/operation", sent / all);
}
