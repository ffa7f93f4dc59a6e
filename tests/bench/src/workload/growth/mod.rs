//! w10: what the server spends as more and more hold a lock, wait for it, or have had it.

mod ask;
mod crowd;
mod link;
mod past;
mod sequence;
mod single;
mod sum;

use self::link::Link;
pub(crate) use self::sequence::Sequence;
use super::Lab;
use crate::{measure::count, results::Results};

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
    let _apart = lab.kept_apart();
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
                let name = row(sequence, n);
                let mut row = results.row("w10-sums", &name);
                row.add("server time", "ms", sum.steps.sum() / 1e3);
                row.add("operations", "1", count(sum.steps.len()));
                row.add("of the longest", "us", sum.steps.max());
                row.add("messages", "1", count(sum.messages));
            }
        }
    }
    link.clear().await;
}
