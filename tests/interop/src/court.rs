//! The checker's rules, without sockets: who holds the lock, who must not, and what the key has to say about it.

use std::time::Duration;

use crate::{
    answer::{Answer, majority_may_have},
    clock::Moment,
};

/// Names a process: those that replace it have numbers of their own.
pub(crate) type Process = usize;

/// A process that said that it has the lock, and for how long that is certain.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    number: u64,
    process: Process,
    token: String,
    until: Moment,
}

/// How a release ended, as the library says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    Done,
    Refused,
}

/// The holders, by the checker's clock. A process does not leave by dying: the lease has to be over.
#[derive(Debug, Default)]
pub(crate) struct Court {
    lease: Duration,
    stays: Vec<Stay>,
    /// Processes whose stay was over when another entered, until they release.
    overtaken: Vec<Process>,
    entered: u64,
    /// The largest fencing token so far.
    fence: u64,
    violations: Vec<String>,
}

impl Court {
    pub(crate) fn new(lease: Duration) -> Self {
        Self {
            lease,
            ..Self::default()
        }
    }

    /// A process has the lock, or has extended it, for certain until `until`.
    pub(crate) fn enter(&mut self, process: Process, token: &str, until: Moment, now: Moment) {
        self.stays.retain(|stay| {
            let over = stay.until <= now;
            if over && stay.process != process && !self.overtaken.contains(&stay.process) {
                self.overtaken.push(stay.process);
            }
            !over
        });
        if until <= now {
            return;
        }
        if let Some(own) = self.stays.iter_mut().find(|stay| stay.process == process) {
            own.until = until;
            return;
        }
        let meets = |other: &Stay| {
            let (theirs, left) = (&other.token, other.until.since(now).as_millis());
            let holder = format!("{theirs} of process {} had {left} ms left", other.process);
            format!("process {process} entered with {token} while {holder}")
        };
        self.violations.extend(self.stays.iter().map(meets));
        self.entered += 1;
        self.stays.push(Stay {
            number: self.entered,
            process,
            token: token.to_owned(),
            until,
        });
    }

    /// A process that has just entered has this fencing token.
    pub(crate) fn fenced(&mut self, process: Process, fence: u64) {
        // If the stay was over before the report, the token may be older than those of later holders.
        if !self.stays.iter().any(|stay| stay.process == process) {
            return;
        }
        if fence <= self.fence {
            let last = self.fence;
            let text = format!("process {process} got the fencing token {fence} after {last}");
            self.object(text);
        }
        self.fence = self.fence.max(fence);
    }

    /// A process is about to release.
    pub(crate) fn leave(&mut self, process: Process) {
        self.stays.retain(|stay| stay.process != process);
    }

    /// A process has tried to release what it had.
    pub(crate) fn released(&mut self, process: Process, release: Release) {
        let overtaken = self.is_overtaken(process);
        self.overtaken.retain(|other| *other != process);
        if overtaken && release == Release::Done {
            let text = format!("process {process} was told that it had released what another had");
            self.object(text);
        }
    }

    /// A process was told that it had extended or released what it no longer had.
    pub(crate) fn not_refused(&mut self, process: Process) {
        let text = format!("process {process} was told that it had changed what it had given back");
        self.object(text);
    }

    /// Whether others have entered since the process' lease was over.
    pub(crate) fn is_overtaken(&self, process: Process) -> bool {
        self.overtaken.contains(&process)
    }

    /// The holders, before the key is read.
    pub(crate) fn holder(&self, now: Moment) -> Option<Stay> {
        let mut present = self.stays.iter().filter(|stay| stay.until > now);
        present.next().cloned()
    }

    /// What the servers said of the key, if the holder has been there all the time.
    pub(crate) fn seen(&mut self, holder: &Stay, answers: &[Answer], now: Moment) {
        let stay = self.stays.iter().find(|stay| stay.number == holder.number);
        // It may have gone, or been extended meanwhile.
        let Some(stay) = stay.filter(|stay| stay.until > now) else {
            return;
        };
        let recorded = stay.until.before(self.lease);
        if majority_may_have(answers, &stay.token, recorded) {
            return;
        }
        let said: Vec<_> = answers.iter().map(Answer::to_string).collect();
        self.violations.push(format!(
            "{} of process {} was taken from it {} ms before its end: the key has {}",
            stay.token,
            stay.process,
            stay.until.since(now).as_millis(),
            said.join(", ")
        ));
        // One violation for each hold is enough.
        self.stays.retain(|stay| stay.number != holder.number);
    }

    /// Something else that must not be.
    pub(crate) fn object(&mut self, text: String) {
        self.violations.push(text);
    }

    pub(crate) fn violations(&self) -> &[String] {
        &self.violations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Moment {
        Moment::at_ms(ms)
    }

    /// Process 1 holds the lock with `a`, from the start until 1000 ms.
    fn entered() -> Court {
        let mut court = Court::new(Duration::from_secs(1));
        court.enter(1, "a", at(1000), at(0));
        court
    }

    #[test]
    fn one_after_the_other_is_right() {
        let mut court = entered();
        court.leave(1);
        court.released(1, Release::Done);
        court.enter(2, "b", at(1002), at(2));
        let holder = court.holder(at(3)).expect("it is there");
        court.seen(&holder, &[Answer::Says("b".to_owned())], at(4));
        assert!(court.violations().is_empty());
    }

    #[test]
    fn two_at_once_are_noticed() {
        let mut court = entered();
        court.enter(2, "b", at(1500), at(999));
        assert_eq!(court.violations().len(), 1);
    }

    #[test]
    fn a_lease_that_is_over_or_extended_counts_as_such() {
        let mut court = entered();
        court.enter(1, "a", at(1500), at(500));
        court.enter(2, "b", at(3000), at(1500));
        assert!(court.violations().is_empty());
        assert!(court.is_overtaken(1));
        court.released(1, Release::Refused);
        assert!(court.violations().is_empty());
        court.enter(3, "c", at(2400), at(1400));
        assert_eq!(court.violations().len(), 1);
    }

    #[test]
    fn who_was_overtaken_can_release_nothing() {
        let mut court = entered();
        court.enter(2, "b", at(2100), at(1100));
        court.leave(1);
        court.released(1, Release::Done);
        assert_eq!(court.violations().len(), 1);
    }

    #[test]
    fn a_hold_that_was_freed_is_noticed() {
        let mut court = entered();
        let holder = court.holder(at(10)).expect("it is there");
        court.seen(&holder, &[Answer::Nothing], at(11));
        assert_eq!(court.violations().len(), 1);
        assert!(court.holder(at(12)).is_none());
    }

    #[test]
    fn what_was_read_while_the_holder_went_is_no_proof() {
        let mut court = entered();
        let holder = court.holder(at(10)).expect("it is there");
        court.leave(1);
        court.enter(1, "b", at(1010), at(11));
        court.seen(&holder, &[Answer::Nothing], at(12));
        let holder = court.holder(at(1009)).expect("it is there");
        court.seen(&holder, &[Answer::Nothing], at(1010));
        assert!(court.violations().is_empty());
    }

    #[test]
    fn fencing_tokens_increase() {
        let mut court = entered();
        court.fenced(1, 7);
        court.leave(1);
        court.enter(2, "b", at(1002), at(2));
        court.fenced(2, 9);
        court.leave(2);
        // Process 3 had the lock in between and reports late.
        court.enter(3, "c", at(1), at(3));
        court.fenced(3, 8);
        assert!(court.violations().is_empty());
        court.enter(4, "d", at(1004), at(4));
        court.fenced(4, 9);
        assert_eq!(court.violations().len(), 1);
    }
}
