//! w10: that the server's work does not grow with those who hold or wait.

use super::Verdicts;
use crate::{
    measure::{Samples, count},
    workload::growth::{SIZES, Sequence, row},
};

/// How much more one operation may take among the most than alone. Not all of it is the script's: a small hash is one
/// piece of memory and a large one a table, and of two trees the larger is deeper.
const FACTOR: f64 = 2.0;

/// And this much on top, in us. The server counts whole microseconds, of which a short script takes few; and in a large
/// table each of a dozen fields is a cache miss or two.
const NOISE: f64 = 10.0;

/// The operation that lists those who hold and those who wait, and how many of each at most.
const LISTS: &str = "inspect";
const FULL: usize = 100;

/// The longest that one script may keep the server from others, in us.
const LONGEST: f64 = 2000.0;

/// The server time of a sequence, in ms.
const TOGETHER: f64 = 1000.0;

impl Verdicts<'_> {
    pub(super) fn growth(&mut self) {
        let results = self.results;
        let operations = results.systems("w10");
        let mut longest = Samples::default();
        for operation in &operations {
            let cost = |column| results.get("w10", operation, column);
            let costs: Vec<(usize, f64)> = SIZES
                .into_iter()
                .filter_map(|(n, column)| Some((n, cost(column)?)))
                .collect();
            // A list grows until it is full.
            let from = if *operation == LISTS { FULL } else { 1 };
            let few = costs.iter().copied().find(|(n, _)| *n >= from);
            if let (Some((few, before)), Some((most, after))) = (few, costs.last().copied())
                && few < most
            {
                let criterion = format!(
                    "w10, {operation}: among {most} <= {FACTOR} x among {few}, give or take {NOISE} us"
                );
                self.judge(criterion, Some(after / before), |_| is_flat(before, after));
            }
            longest.merge(&costs.into_iter().map(|(_, cost)| cost).collect());
        }
        self.no_script_is_long("one operation", &longest);
        for sequence in Sequence::ALL {
            let sum = |n, metric| results.get("w10-sums", &row(sequence, n), metric);
            let sizes = SIZES.into_iter().map(|(n, _)| n);
            let costs: Vec<(usize, f64)> = sizes
                .filter_map(|n| Some((n, sum(n, "server time")?)))
                .collect();
            let steps = SIZES
                .into_iter()
                .filter_map(|(n, _)| sum(n, "of the longest"));
            self.no_script_is_long(sequence.name(), &steps.collect());
            if let [_, (few, before), .., (most, after)] = costs[..]
                && let Some(expected) = sequence.messages(most)
            {
                let each = |n: usize, ms: f64| ms * 1e3 / count(n);
                let (before, each) = (each(few, before), each(most, after));
                let messages = sum(most, "messages");
                let name = sequence.name();
                let criterion = format!(
                    "w10, {name}: for each of {most} <= {FACTOR} x for each of {few}, give or take {NOISE} us"
                );
                self.judge(criterion, Some(each / before), |_| is_flat(before, each));
                let criterion =
                    format!("w10, {name}: {most} take < {TOGETHER} ms of the server in sum");
                self.judge(criterion, Some(after), |ms| ms < TOGETHER);
                let expected = count(expected);
                let criterion = format!("w10, {name}: messages for {most}, exactly {expected}");
                self.judge(criterion, messages, |messages| {
                    (messages - expected).abs() < 0.5
                });
            }
        }
    }

    /// Others wait while a script runs.
    fn no_script_is_long(&mut self, what: &str, scripts: &Samples) {
        let criterion = format!("w10, {what}: the longest script <= {LONGEST} us");
        self.judge(criterion, Some(scripts.max()), |us| us <= LONGEST);
    }
}

fn is_flat(few: f64, many: f64) -> bool {
    many <= FACTOR * few + NOISE
}
