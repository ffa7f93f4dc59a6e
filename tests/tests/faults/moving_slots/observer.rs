//! The clients that believed to hold the lock, and when: written down on one clock, without the lock's help.

use std::{
    fmt, fs,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use dlock::{Error, FencingToken};
use dlock_load::{DlockGuard, Patience};
use dlock_tests::{
    history::{Belief, Journal, Story, Tokens, check_exclusion},
    now_ns, unique_prefix,
};

/// How long after a pause its requests may be answered, in ns.
const SETTLED: u64 = 1_000_000_000;

/// Collects what the holders believe.
#[derive(Debug)]
pub(crate) struct Observer {
    journal: Journal,
    path: PathBuf,
    ended: AtomicU64,
    /// When a hold ended last, and the longest time between two ends, in ns.
    last_end: AtomicU64,
    gap: AtomicU64,
    timeouts: AtomicU64,
    /// What must not be, and when it was: losses, and errors other than the caller's own timeout, in words.
    faults: Mutex<Vec<(u64, String)>>,
}

impl Observer {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(unique_prefix());
        Self {
            journal: Journal::create(&path),
            path,
            ended: AtomicU64::default(),
            last_end: AtomicU64::default(),
            gap: AtomicU64::default(),
            timeouts: AtomicU64::default(),
            faults: Mutex::default(),
        }
    }

    /// To be called right after a grant.
    pub(crate) fn granted(&self, lock: usize, write: bool, guard: &DlockGuard) -> Belief<'_> {
        let id = self
            .journal
            .asks(lock, write, None, Patience::Forever, false);
        let token = guard.fencing_token().map(FencingToken::as_u64);
        // It counts as held even if it is lost by now.
        Belief::begin(&self.journal, id, token, || false)
    }

    /// Holds for as long as `work` takes, or until the hold is lost. To be called right before the release.
    pub(crate) async fn hold(
        &self,
        belief: &Belief<'_>,
        work: Duration,
        guard: &DlockGuard,
    ) -> Result<(), Error> {
        belief.hold(guard, work).await;
        let held = guard.check();
        self.ended.fetch_add(1, Relaxed);
        let now = now_ns();
        let before = self.last_end.swap(now, Relaxed);
        if before > 0 {
            self.gap.fetch_max(now.saturating_sub(before), Relaxed);
        }
        held
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
        let story = Story::take(&[&self.path]);
        let report = check_exclusion(&story.calls, Tokens::OfAll);
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
}

impl Drop for Observer {
    fn drop(&mut self) {
        // It is gone where it was judged.
        let _ = fs::remove_file(&self.path);
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
