//! The judgement of a whole history.

use std::{collections::BTreeMap, fmt};

use super::{Call, conflicts};

/// What [`check_exclusion`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Holds of readers.
    pub reads: usize,
    /// Holds of writers.
    pub writes: usize,
    /// Holds whose release found them lost, or failed.
    pub broken: usize,
    /// Holds without a token, of which nothing but their overlaps is checked.
    pub without_token: usize,
    /// Holds that their callers did not give up. They count until the last moment at which their callers believed in them.
    pub unfinished: usize,
    /// The most readers that were in one lock at once.
    pub most_readers: usize,
    /// What a read/write lock does not allow.
    pub violations: Vec<String>,
}

/// Which tokens say something about the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// Every token.
    OfAll,
    /// Tokens of writers: a quorum promises nothing about those of readers.
    OfWriters,
}

/// Looks for [`conflicts`] between calls, and counts holds.
#[must_use]
pub fn check_exclusion(calls: &[Call], tokens: Tokens) -> Report {
    let says = |call: &Call| call.write || tokens == Tokens::OfAll;
    let found = conflicts(calls, |call| call.got()?.token.filter(|_| says(call)));
    let mut report = Report {
        violations: found.iter().map(ToString::to_string).collect(),
        ..Report::default()
    };
    let mut readers: BTreeMap<usize, Vec<(u64, isize)>> = BTreeMap::new();
    for call in calls {
        let (Some(got), Some((since, last))) = (call.got(), call.believed()) else {
            continue;
        };
        if call.write {
            report.writes += 1;
        } else {
            report.reads += 1;
            let steps = readers.entry(call.lock).or_default();
            steps.extend([(since, 1), (last, -1)]);
        }
        let released = got.released.as_ref().map(|(_, outcome)| outcome.as_str());
        report.unfinished += usize::from(got.ended.is_none());
        report.without_token += usize::from(got.token.is_none());
        report.broken += usize::from(!matches!(released, None | Some("ok" | "dropped")));
    }
    report.most_readers = readers.into_values().map(most).max().unwrap_or(0);
    report
}

/// The largest sum of steps up to a moment. At the same instant, ends come first.
fn most(mut steps: Vec<(u64, isize)>) -> usize {
    steps.sort_unstable();
    let sums = steps.iter().scan(0, |sum, (_, step)| {
        *sum += step;
        Some(*sum)
    });
    sums.max().unwrap_or(0).unsigned_abs()
}

impl Report {
    /// Panics with the first violations, if there are any, and if a hold is unfinished.
    pub fn assert_clean(&self) {
        let count = self.violations.len();
        let first = &self.violations[..count.min(5)];
        assert!(count == 0, "{count} violations, such as {first:#?}\n{self}");
        assert_eq!(self.unfinished, 0, "unfinished holds\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reads (at most {} at once), {} writes, {} broken, {} unfinished, {} violations",
            self.reads,
            self.most_readers,
            self.writes,
            self.broken,
            self.unfinished,
            self.violations.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Story, Who},
        Tokens, check_exclusion,
    };

    #[test]
    fn holds_are_counted() {
        let mut story = Story::default();
        let text = "A 0 0 0 r - try\nG 1 0 10 1\nA 0 1 0 r - try\nG 2 1 12 1\nA 0 2 0 r - try\nG 3 2 11 1\n\
            E 4 0 4\nE 5 1 5\nE 6 2 6\nR 6 2 ok\n\
            A 4 3 0 w - try\nG 6 3 - 1\nE 7 3 7\nR 9 3 Lost\n\
            A 7 4 0 r - try\nG 8 4 14 1\nA 7 5 0 r - try\nG 9 5 14 0\n";
        assert_eq!(story.add(text, Who::default()), Ok(()));
        let report = check_exclusion(&story.calls, Tokens::OfAll);
        assert_eq!(report.violations, [""; 0]);
        assert_eq!(report.without_token, 1);
        assert_eq!((report.reads, report.writes), (4, 1));
        assert_eq!((report.broken, report.unfinished), (1, 1));
        assert_eq!(report.most_readers, 3);
    }
}
