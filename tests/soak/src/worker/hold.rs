//! Holding a lock: doing what it guards, taking it again, giving it back.

use std::time::Duration;

use dlock_load::{CutShort, Ending, Op, Patience};
use dlock_tests::history::Belief;
use tokio::time::sleep;

use super::{act::Work, resource::Read, system::Guard};

/// A lock that a task believes to hold. The belief ends with this.
pub(super) struct Holding<'w> {
    work: &'w Work,
    lock: usize,
    /// Whether what the lock guards is read and written under it.
    guards: bool,
    guard: Option<Guard>,
    belief: Belief<'w>,
}

impl<'w> Holding<'w> {
    pub(super) fn new(
        work: &'w Work,
        op: &Op,
        lock: usize,
        write: bool,
        id: u64,
        guard: Guard,
    ) -> Self {
        Self {
            work,
            lock,
            guards: write && op.owner.is_none(),
            belief: Belief::begin(&work.journal, id, guard.token(), || guard.is_lost()),
            guard: Some(guard),
        }
    }

    /// The first half of what the lock guards.
    pub(super) async fn read(&self) -> Option<Read> {
        let guard = self.guard.as_ref().filter(|_| self.guards)?;
        Some(self.work.resource.read(self.lock, guard.token()).await)
    }

    /// The second half, whether the lock is still held or not.
    pub(super) async fn write(&self, read: Option<Read>) {
        let (Some(guard), Some(read)) = (&self.guard, read) else {
            return;
        };
        self.work
            .resource
            .write(self.lock, guard.token(), read)
            .await;
    }

    /// Holds on for as long as the operation says.
    pub(super) async fn linger(&self, op: &Op) {
        let Some(guard) = &self.guard else { return };
        let rest = async {
            if op.hold == 0 {
                return;
            }
            let rest = sleep(Duration::from_nanos(op.hold));
            if op.until_lost {
                tokio::select! {
                    biased;
                    _ = guard.lost() => {}
                    () = rest => {}
                }
            } else {
                rest.await;
            }
        };
        self.belief.keep(|| guard.is_lost(), rest).await;
    }

    /// Gives it back, in the operation's way.
    async fn end(mut self, ending: Ending) {
        let Some(guard) = self.guard.take() else {
            return;
        };
        self.belief.end(|| guard.is_lost());
        let (journal, id) = (&self.work.journal, self.belief.id());
        let releasing = guard.release();
        match ending {
            Ending::Drop => {
                drop(releasing);
                journal.released(id, "dropped");
            }
            Ending::Release => {
                let outcome = releasing.await;
                journal.released(id, outcome);
            }
            Ending::Cancelled => {
                // Dropped at its first await point.
                let outcome = CutShort::new(releasing, Some(1)).await;
                journal.released(id, outcome.as_deref().unwrap_or("dropped"));
            }
        }
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        if let Some(guard) = &self.guard {
            self.belief.end(|| guard.is_lost());
        }
    }
}

/// Holds for as long as the operation says, and gives back in its way.
pub(super) async fn hold(holding: Holding<'_>, op: &Op) {
    let read = holding.read().await;
    holding.linger(op).await;
    if let Some(inner) = op.inner {
        let work = holding.work;
        let patience = Patience::For(inner.patience);
        let lock = op.locks[0];
        let id = work
            .journal
            .asks(lock, inner.write, op.owner, patience, false);
        match work
            .system
            .ask(work.lock(lock), inner.write, op.owner, patience)
            .await
        {
            Ok(Some(guard)) => {
                let inner = Holding::new(work, op, lock, inner.write, id, guard);
                inner.linger(op).await;
                inner.end(op.ending).await;
            }
            Ok(None) => work.journal.did_not_get(id, "busy"),
            Err(why) => work.journal.did_not_get(id, why),
        }
    }
    holding.write(read).await;
    holding.end(op.ending).await;
}
