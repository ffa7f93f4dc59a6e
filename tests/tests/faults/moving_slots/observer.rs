//! The clients that believed to hold the lock, and when: kept in this process, on one clock, without the lock's help.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use dlock::Error;
use dlock_tests::{Event, EventKind, Mode, check_exclusion, now_ns};

/// How often a holder of a short time looks whether it still holds.
const OFTEN: Duration = Duration::from_micros(300);

/// How long after a pause its requests may be answered, in ns.
const SETTLED: u64 = 1_000_000_000;

/// Collects what the holders believe.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    events: Mutex<Vec<Event>>,
    numbers: AtomicU64,
    ended: AtomicU64,
    /// When a hold ended last, and the longest time between two ends, in ns.
    last_end: AtomicU64,
    gap: AtomicU64,
    timeouts: AtomicU64,
    /// What must not be, and when it was: losses, and errors other than the caller's own timeout, in words.
    faults: Mutex<Vec<(u64, String)>>,
}

/// A hold as its holder sees it.
#[derive(Debug)]
pub(crate) struct Belief {
    number: u64,
    key: String,
    mode: Mode,
    token: u64,
    last: u64,
}

impl Observer {
    /// To be called right after a grant. Without a fencing token, the order of the calls stands for it.
    pub(crate) fn granted(&self, key: &str, mode: Mode, token: Option<u64>) -> Belief {
        let number = self.numbers.fetch_add(1, Relaxed);
        let belief = Belief {
            number,
            key: key.to_owned(),
            mode,
            token: token.unwrap_or(number),
            last: now_ns(),
        };
        self.note(EventKind::Enter, &belief);
        belief
    }

    /// Holds for as long as `work` takes; `check` is asked all the while and says when that was too long.
    pub(crate) async fn hold(
        &self,
        belief: &mut Belief,
        work: Duration,
        check: impl Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let end = now_ns() + u64::try_from(work.as_nanos()).expect("a short time");
        loop {
            // The moment before the answer: it was still believed then.
            let now = now_ns();
            check()?;
            belief.last = now;
            if now >= end {
                return Ok(());
            }
            tokio::time::sleep((work / 1000).max(OFTEN)).await;
        }
    }

    /// To be called right before the release, or when the hold is known to be lost.
    pub(crate) fn ends(&self, belief: &Belief, held: bool) {
        let kind = if held {
            EventKind::Exit
        } else {
            EventKind::Lost
        };
        self.note(kind, belief);
        self.ended.fetch_add(1, Relaxed);
        let now = now_ns();
        let before = self.last_end.swap(now, Relaxed);
        if before > 0 {
            self.gap.fetch_max(now.saturating_sub(before), Relaxed);
        }
    }

    pub(crate) fn timed_out(&self) {
        self.timeouts.fetch_add(1, Relaxed);
    }

    pub(crate) fn fault(&self, what: String) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push((now_ns(), what));
    }

    /// Holds that have ended so far.
    pub(crate) fn holds(&self) -> u64 {
        self.ended.load(Relaxed)
    }

    /// The longest time in which no hold ended.
    pub(crate) fn longest_gap(&self) -> Duration {
        Duration::from_nanos(self.gap.load(Relaxed))
    }

    /// Leaves out what long write pauses have done: leases that ended meanwhile, and requests without an answer.
    pub(crate) fn excuse(&self, pauses: &[(u64, u64)]) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let before = faults.len();
        faults.retain(|(at, what)| {
            let meant = ["Lost(Expired)", "Timeout(Request)", "Unavailable"];
            let meanwhile = |(from, until): &(u64, u64)| (*from..until + SETTLED).contains(at);
            !(meant.iter().any(|kind| what.contains(kind)) && pauses.iter().any(meanwhile))
        });
        let lasted: Vec<Duration> = pauses
            .iter()
            .map(|(from, until)| Duration::from_nanos(until - from))
            .collect();
        println!(
            "write pauses of more than two seconds: {lasted:.1?}, by which {} holds and requests were lost",
            before - faults.len()
        );
    }

    /// Panics unless there was nothing but holds and timeouts.
    pub(crate) fn judge(&self) {
        let report = {
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            check_exclusion(&events)
        };
        println!("{self}: {report}");
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, count) = (&faults[..faults.len().min(5)], faults.len());
        assert!(
            count == 0 && report.violations.is_empty(),
            "{count} lost holds and failed requests, such as {first:#?}\n{} violations: {:#?}\n{report}",
            report.violations.len(),
            &report.violations[..report.violations.len().min(3)]
        );
        assert_eq!(report.unfinished, 0);
    }

    fn note(&self, kind: EventKind, belief: &Belief) {
        let event = Event {
            at_ns: belief.last,
            pid: 0,
            hold: belief.number,
            kind,
            mode: belief.mode,
            token: belief.token,
            key: belief.key.clone(),
        };
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
    }
}

impl fmt::Display for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timeouts = self.timeouts.load(Relaxed);
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = faults
            .iter()
            .filter(|(_, fault)| fault.contains("Lost"))
            .count();
        let others = faults.len() - lost;
        write!(
            f,
            "{timeouts} timeouts, {lost} lost holds, {others} other errors"
        )
    }
}
