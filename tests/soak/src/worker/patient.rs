//! Looking again and again, while a lock is held, whether it still is.

use std::{cell::Cell, rc::Rc, time::Duration};

use dlock_tests::now_ns;
use tokio::time::sleep;

use super::system::Guard;
use crate::history::Journal;

/// How often.
const LOOK: Duration = Duration::from_millis(1);
/// Events that are written down less often: it counts only if the process is killed.
const NOTE: u64 = 20_000_000;

/// What the holder of a lock believes.
pub(super) struct Belief {
    journal: Rc<Journal>,
    pub(super) id: u64,
    last: Cell<u64>,
    noted: Cell<u64>,
    ended: Cell<bool>,
}

impl Belief {
    /// From right after the grant.
    pub(super) fn new(journal: &Rc<Journal>, id: u64, guard: &Guard) -> Self {
        let now = now_ns();
        journal.got(now, id, guard.token(), !guard.is_lost());
        Self {
            journal: Rc::clone(journal),
            id,
            last: Cell::new(now),
            noted: Cell::new(now),
            ended: Cell::new(false),
        }
    }

    /// Asks the lock. The moment before the answer counts: it was still believed then.
    fn look(&self, guard: &Guard) {
        let now = now_ns();
        if guard.is_lost() {
            return;
        }
        self.last.set(now);
        if now - self.noted.get() > NOTE {
            self.noted.set(now);
            self.journal.believes(now, self.id);
        }
    }

    /// Looks for as long as `rest` takes.
    pub(super) async fn keep(&self, guard: &Guard, rest: impl Future<Output = ()>) {
        tokio::pin!(rest);
        loop {
            tokio::select! {
                biased;
                () = &mut rest => break,
                () = sleep(LOOK) => self.look(guard),
            }
        }
        self.look(guard);
    }

    /// It is given up.
    pub(super) fn end(&self, guard: &Guard) {
        if !self.ended.replace(true) {
            self.look(guard);
            self.journal.gives_up(self.id, self.last.get());
        }
    }
}
