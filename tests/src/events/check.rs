//! An independent judge of exclusion and fencing: it knows intervals and tokens, nothing of the lock.

use super::{
    Event, Mode, Report, Violation,
    hold::{End, Hold, holds},
};

/// Checks, for each lock in the log, that no writer's interval overlaps another interval and that no token was given
/// twice. A writer's token has to be larger than those of the holders before it, and smaller than those of the holders
/// after it.
///
/// Readers are not compared with each other: they log their entries in any order, and those of one process may share
/// a hold and its token.
#[must_use]
pub fn check_exclusion(events: &[Event]) -> Report {
    let (by_key, violations) = holds(events);
    let mut report = Report {
        violations,
        ..Report::default()
    };
    for (key, mut holds) in by_key {
        holds.sort_by_key(|hold| (hold.enter, hold.token));
        report.violations.extend(check_pairs(key, &holds));
        report.violations.extend(check_unique(key, &holds));
        report.most_readers = report.most_readers.max(most_readers(&holds));
        for hold in &holds {
            match hold.mode {
                Mode::Read => report.reads += 1,
                Mode::Write => report.writes += 1,
            }
            match hold.end {
                End::Open => report.unfinished += 1,
                End::Broken(_) => report.broken += 1,
                End::Exit(_) => {}
            }
        }
    }
    report
}

/// Compares each hold with the earlier ones that it must not meet: a writer with all, a reader with writers. Of those,
/// the one that stays longest and the one with the largest token speak for all.
fn check_pairs(key: &str, holds: &[Hold]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut of_all = Earlier::default();
    let mut of_writers = Earlier::default();
    for hold in holds {
        let earlier = match hold.mode {
            Mode::Read => of_writers,
            Mode::Write => of_all,
        };
        if let Some(first) = earlier.longest.filter(|first| first.end_ns() > hold.enter) {
            violations.push(Violation::Overlap {
                key: key.to_owned(),
                first: first.to_string(),
                second: hold.to_string(),
            });
        }
        if let Some(first) = earlier.largest.filter(|first| first.token > hold.token) {
            violations.push(Violation::TokenOrder {
                key: key.to_owned(),
                first: first.to_string(),
                second: hold.to_string(),
            });
        }
        of_all.add(hold);
        if hold.mode == Mode::Write {
            of_writers.add(hold);
        }
    }
    violations
}

#[derive(Clone, Copy, Default)]
struct Earlier<'h> {
    longest: Option<&'h Hold>,
    largest: Option<&'h Hold>,
}

impl<'h> Earlier<'h> {
    fn add(&mut self, hold: &'h Hold) {
        if self
            .longest
            .is_none_or(|longest| hold.end_ns() > longest.end_ns())
        {
            self.longest = Some(hold);
        }
        if self
            .largest
            .is_none_or(|largest| hold.token > largest.token)
        {
            self.largest = Some(hold);
        }
    }
}

fn check_unique(key: &str, holds: &[Hold]) -> Vec<Violation> {
    let mut holds: Vec<&Hold> = holds.iter().collect();
    holds.sort_by_key(|hold| hold.token);
    let twice = |pair: &[&Hold]| {
        let (first, second) = (pair[0], pair[1]);
        // Readers of one process may stand on one hold.
        let shared =
            first.pid == second.pid && first.mode == Mode::Read && second.mode == Mode::Read;
        (first.token == second.token && !shared).then(|| Violation::TokenTwice {
            key: key.to_owned(),
            first: first.to_string(),
            second: second.to_string(),
        })
    };
    holds.windows(2).filter_map(twice).collect()
}

fn most_readers(holds: &[Hold]) -> usize {
    let readers = holds.iter().filter(|hold| hold.mode == Mode::Read);
    let mut steps: Vec<(u64, isize)> = readers
        .flat_map(|hold| [(hold.enter, 1), (hold.end_ns(), -1)])
        .collect();
    // At the same instant, ends come first.
    steps.sort_unstable();
    let (mut now, mut most) = (0_isize, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind::{self, Enter, Exit, Killed, Lost, Paused};

    /// Events of one lock: `(time, process, hold, kind, mode, token)`.
    fn check(log: &[(u64, u32, u64, EventKind, Mode, u64)]) -> Report {
        let event = |&(at_ns, pid, hold, kind, mode, token): &_| Event {
            at_ns,
            pid,
            hold,
            kind,
            mode,
            token,
            key: "k".to_owned(),
        };
        check_exclusion(&log.iter().map(event).collect::<Vec<_>>())
    }

    fn violations(log: &[(u64, u32, u64, EventKind, Mode, u64)]) -> Vec<&'static str> {
        let name = |violation: &Violation| match violation {
            Violation::Overlap { .. } => "overlap",
            Violation::TokenOrder { .. } => "order",
            Violation::TokenTwice { .. } => "twice",
            Violation::Unpaired { .. } => "unpaired",
        };
        check(log).violations.iter().map(name).collect()
    }

    use Mode::{Read as R, Write as W};

    #[test]
    fn what_a_lock_allows_is_clean() {
        let report = check(&[
            (1, 1, 1, Enter, R, 10),
            (2, 2, 1, Enter, R, 12),
            (3, 3, 1, Enter, R, 11),
            (4, 1, 1, Exit, R, 10),
            (5, 2, 1, Exit, R, 12),
            (6, 3, 1, Exit, R, 11),
            // At the same instant, but one after the other.
            (6, 1, 2, Enter, W, 13),
            (7, 1, 2, Exit, W, 13),
            (8, 2, 2, Enter, R, 14),
        ]);
        report.assert_clean();
        assert_eq!((report.reads, report.writes, report.unfinished), (4, 1, 1));
        assert_eq!(report.most_readers, 3);
    }

    #[test]
    fn overlaps_are_found() {
        let writers = [(1, 1, 1, Enter, W, 1), (2, 2, 1, Enter, W, 2)];
        assert_eq!(violations(&writers), ["overlap"]);
        let reader_in_writer = [
            (1, 1, 1, Enter, W, 1),
            (2, 2, 1, Enter, R, 2),
            (3, 2, 1, Exit, R, 2),
            (4, 1, 1, Exit, W, 1),
        ];
        assert_eq!(violations(&reader_in_writer), ["overlap"]);
        // The long reader counts, though a short one came after it.
        let writer_in_long_reader = [
            (1, 1, 1, Enter, R, 1),
            (2, 2, 1, Enter, R, 2),
            (3, 2, 1, Exit, R, 2),
            (4, 3, 1, Enter, W, 3),
            (5, 3, 1, Exit, W, 3),
            (6, 1, 1, Exit, R, 1),
        ];
        assert_eq!(violations(&writer_in_long_reader), ["overlap"]);
    }

    #[test]
    fn tokens_that_do_not_increase_are_found() {
        let writers = [
            (1, 1, 1, Enter, W, 9),
            (2, 1, 1, Exit, W, 9),
            (3, 2, 1, Enter, W, 8),
            (4, 2, 1, Exit, W, 8),
        ];
        assert_eq!(violations(&writers), ["order"]);
        let reader_after_writer = [
            (1, 1, 1, Enter, W, 9),
            (2, 1, 1, Exit, W, 9),
            (3, 2, 1, Enter, R, 8),
        ];
        assert_eq!(violations(&reader_after_writer), ["order"]);
        let same_for_two_processes = [(1, 1, 1, Enter, R, 5), (2, 2, 1, Enter, R, 5)];
        assert_eq!(violations(&same_for_two_processes), ["twice"]);
        let shared_in_a_process = [(1, 1, 1, Enter, R, 5), (2, 1, 2, Enter, R, 5)];
        assert_eq!(violations(&shared_in_a_process), [""; 0]);
    }

    #[test]
    fn a_broken_log_is_found() {
        assert_eq!(violations(&[(1, 1, 1, Exit, R, 5)]), ["unpaired"]);
        let wrong_token = [(1, 1, 1, Enter, R, 5), (2, 1, 1, Exit, R, 6)];
        assert_eq!(violations(&wrong_token), ["unpaired"]);
        let twice = [
            (1, 1, 1, Enter, R, 5),
            (2, 1, 1, Exit, R, 5),
            (3, 1, 1, Exit, R, 5),
        ];
        assert_eq!(violations(&twice), ["unpaired"]);
    }

    #[test]
    fn lost_and_killed_holds_end() {
        let report = check(&[
            (1, 1, 1, Enter, W, 1),
            (2, 1, 1, Lost, W, 1),
            (3, 2, 1, Enter, W, 2),
            (4, 1, 1, Exit, W, 1),
            (5, 2, 0, Killed, R, 0),
            (6, 3, 1, Enter, W, 3),
            (7, 3, 1, Exit, W, 3),
        ]);
        report.assert_clean();
        assert_eq!((report.broken, report.unfinished), (2, 0));
    }

    #[test]
    fn a_pause_ends_only_what_is_lost_by_it() {
        let paused_then = |kind| {
            violations(&[
                (1, 1, 1, Enter, W, 1),
                (2, 1, 0, Paused, R, 0),
                (3, 2, 1, Enter, W, 2),
                (4, 2, 1, Exit, W, 2),
                (5, 1, 1, kind, W, 1),
            ])
        };
        assert_eq!(paused_then(Lost), [""; 0]);
        assert_eq!(paused_then(Exit), ["overlap"]);
    }
}
