//! w10: what the server spends as more and more hold a lock, wait for it, or have had it.

mod ask;
mod crowd;
mod link;
mod past;
mod sequence;
mod single;
mod sum;

use dlock_tests::RedisServer;

use self::link::Link;
pub(crate) use self::sequence::Sequence;
use super::Lab;
use crate::{
    measure::{KeptApart, count},
    results::Results,
    server::Site,
    system::Kind,
};

/// How many hold or wait, and what the columns are called.
pub(crate) const SIZES: [(usize, &str); 4] = [
    (1, "with 1"),
    (100, "with 100"),
    (1000, "with 1,000"),
    (10_000, "with 10,000"),
];

/// What the row of a sequence is called.
pub(crate) fn row(sequence: Sequence, n: usize) -> String {
    format!("{}: {n}", sequence.name())
}

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    if !lab.systems.contains(&Kind::Dlock) {
        return;
    }
    let servers = [&lab.standalone, &lab.cluster]
        .into_iter()
        .flat_map(Site::nodes);
    let _apart = KeptApart::new(servers.map(RedisServer::pid));
    let mut link = Link::new(&lab.standalone).await;
    for _ in 0..lab.repeats {
        for (n, column) in SIZES.into_iter().take(lab.pick(2, 3, 4)) {
            let mut rows = single::all(&mut link, n).await;
            rows.extend(past::all(&mut link, n).await);
            for (operation, costs) in rows {
                results.add("w10", operation, column, "us", costs.median());
            }
            for sequence in Sequence::ALL {
                let sum = sum::measure(&mut link, sequence, n, lab.effort).await;
                let row = row(sequence, n);
                let mut add = |metric, unit, value| {
                    results.add("w10-sums", &row, metric, unit, value);
                };
                add("server time", "ms", sum.steps.sum() / 1e3);
                add("operations", "1", count(sum.steps.len()));
                add("of the longest", "us", sum.steps.max());
                add("messages", "1", count(sum.messages));
            }
        }
    }
    link.clear().await;
}
