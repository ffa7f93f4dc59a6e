//! Checking a lock again and again while it is held.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use dlock_load::DlockGuard;
use tokio::time::sleep;

use super::{Journal, now_ns};

/// How often a holder checks its lock.
const LOOK: Duration = Duration::from_millis(1);
/// How often a journal gets the result, in ns. Only if the process is killed do these lines count.
const NOTE: u64 = 20_000_000;

/// The holder of a lock checks it, and writes to its journal until when it believed in it.
#[derive(Debug)]
pub struct Belief<'j> {
    journal: &'j Journal,
    id: u64,
    last: AtomicU64,
    noted: AtomicU64,
    ended: AtomicBool,
}

impl<'j> Belief<'j> {
    /// Begins right after the grant of call `id`.
    pub fn begin(
        journal: &'j Journal,
        id: u64,
        token: Option<u64>,
        is_lost: impl FnOnce() -> bool,
    ) -> Self {
        let now = now_ns();
        journal.got(now, id, token, !is_lost());
        Self {
            journal,
            id,
            last: AtomicU64::new(now),
            noted: AtomicU64::new(now),
            ended: AtomicBool::new(false),
        }
    }

    /// The call's number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Checks the lock. The moment before the answer counts: a process that is stopped in between still believed in it then.
    fn look(&self, is_lost: impl FnOnce() -> bool) {
        let now = now_ns();
        if is_lost() {
            return;
        }
        self.last.store(now, Relaxed);
        if now - self.noted.load(Relaxed) > NOTE {
            self.noted.store(now, Relaxed);
            self.journal.believes(now, self.id);
        }
    }

    /// Checks the lock for as long as `rest` takes.
    pub async fn keep(&self, is_lost: impl Fn() -> bool, rest: impl Future<Output = ()>) {
        tokio::pin!(rest);
        loop {
            tokio::select! {
                biased;
                () = &mut rest => break,
                () = sleep(LOOK) => self.look(&is_lost),
            }
        }
        self.look(is_lost);
    }

    /// Holds for as long as `work` takes, or until the lock is lost, and ends the belief; to be called right before the release.
    pub async fn hold(&self, guard: &DlockGuard, work: Duration) {
        let is_lost = || guard.check().is_err();
        let rest = async {
            tokio::select! {
                biased;
                _ = guard.lost() => {}
                () = sleep(work) => {}
            }
        };
        self.keep(is_lost, rest).await;
        self.end(is_lost);
    }

    /// Ends the belief; to be called right before the release. A second call does nothing.
    pub fn end(&self, is_lost: impl FnOnce() -> bool) {
        if !self.ended.swap(true, Relaxed) {
            self.look(is_lost);
            self.journal.gives_up(self.id, self.last.load(Relaxed));
        }
    }
}
