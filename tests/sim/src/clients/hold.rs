//! Holding a lock: doing what it guards, taking it again, giving it back.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use dlock::sim::sleep;
use dlock_load::{CutShort, Handle};

use super::act::Who;
use super::sim::Sim;
use crate::history::Kind;
use crate::judges::{Belief, Guard, Told};
use crate::plan::{Ending, Op, Patience};

/// How long a loss that is there may go untold.
const UNHEARD: Duration = Duration::from_millis(1);

/// A lock that a task believes to hold. The belief ends with this.
pub(super) struct Holding {
    sim: Rc<Sim>,
    belief: Belief,
    guard: Option<Rc<Guard>>,
    number: u64,
    ended: Cell<bool>,
}

impl Holding {
    pub(super) fn new(sim: &Rc<Sim>, mut belief: Belief, guard: Guard) -> Self {
        let guard = Rc::new(guard);
        belief.guard = Rc::downgrade(&guard);
        let Belief {
            of,
            task,
            lock,
            write,
            ..
        } = belief;
        let token = guard.token().unwrap_or(0);
        sim.engine.step("granted", task, &token.to_le_bytes());
        sim.engine.tell(Kind::Client, || {
            let mode = if write { "writes" } else { "reads" };
            let lost = if guard.is_lost() {
                " (lost already)"
            } else {
                ""
            };
            format!("p{} t{task} {mode} lock {lock}, token {token}{lost}", of.0)
        });
        let number = sim.judges.granted(&sim.engine, belief.clone(), &guard);
        Self {
            sim: Rc::clone(sim),
            belief,
            guard: Some(guard),
            number,
            ended: Cell::new(false),
        }
    }

    fn guard(&self) -> Option<&Rc<Guard>> {
        self.guard.as_ref()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.guard().is_some_and(|guard| guard.is_lost())
    }

    /// The first half of what the lock guards, if it is to be written.
    pub(super) fn read(&self) -> Option<u64> {
        let token = self.guard()?.token()?;
        let judges = &self.sim.judges;
        (self.belief.write && self.belief.owner.is_none())
            .then(|| judges.fenced_read(self.belief.lock, token))
            .flatten()
    }

    /// The second half, whether the lock is still held or not.
    pub(super) fn write(&self, read: Option<u64>) {
        let token = self.guard().and_then(|guard| guard.token());
        let (Some(token), Some(read)) = (token, read) else {
            return;
        };
        let Sim { engine, judges, .. } = &*self.sim;
        judges.fenced_write(engine, self.belief.lock, token, read);
    }

    /// The belief ends; what it was by.
    fn give_up(mut self) -> Option<Guard> {
        self.end();
        Rc::try_unwrap(self.guard.take()?).ok()
    }

    fn end(&self) {
        if !self.ended.replace(true) {
            let engine = &self.sim.engine;
            let lost = self.sim.judges.ended(engine, self.number);
            let Belief { of, task, lock, .. } = self.belief;
            engine.step("ended", task, &[]);
            engine.tell(Kind::Client, || {
                let lost = if lost { " (lost)" } else { "" };
                format!("p{} t{task} leaves lock {lock}{lost}", of.0)
            });
        }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.end();
    }
}

/// Holds for as long as the operation says, and gives back in its way.
pub(super) async fn hold(sim: &Rc<Sim>, holding: Holding, op: &Op, lock: &Handle, who: Who) {
    let read = holding.read();
    linger(&holding, op).await;
    if let Some(inner) = op.inner {
        let patience = Patience::For(inner.patience);
        let asked = sim.engine.now();
        let again = lock.ask(inner.write, patience).await;
        sim.count();
        // Only who reads and wants to write may have to wait for other readers.
        if op.write || !inner.write {
            let told = Told::of(Some(&again));
            let judges = &sim.judges;
            judges.look_at_reentry(&sim.engine, asked, inner.patience, told);
        }
        match again {
            Ok(Some(guard)) => {
                let now = sim.engine.now();
                let belief = who.belief(op, op.locks[0], inner.write, asked, now);
                let inner = Holding::new(sim, belief, Guard::Dlock(guard));
                linger(&inner, op).await;
                end(inner, op.ending).await;
            }
            Ok(None) => {}
            Err(error) => sim.engine.tell(Kind::Client, || {
                format!("p{} t{} takes it again: {error}", who.of.0, who.task)
            }),
        }
    }
    holding.write(read);
    end(holding, op.ending).await;
}

async fn linger(holding: &Holding, op: &Op) {
    if op.hold == 0 {
        return;
    }
    let rest = sleep(Duration::from_nanos(op.hold));
    let Some(guard) = holding.guard() else { return };
    if !op.until_lost {
        rest.await;
        return;
    }
    let mut lost = pin!(guard.lost());
    tokio::select! {
        biased;
        _ = &mut lost => return,
        () = rest => {}
    }
    if guard.is_lost() {
        tokio::select! {
            biased;
            _ = lost => {}
            () = sleep(UNHEARD) => holding.sim.judges.is_not_told(&holding.sim.engine),
        }
    }
}

async fn end(holding: Holding, ending: Ending) {
    let engine = Rc::clone(&holding.sim.engine);
    let judges = Rc::clone(&holding.sim.judges);
    let belief = holding.belief.clone();
    let Some(guard) = holding.give_up() else {
        return;
    };
    let releasing = async {
        match guard {
            Guard::Dlock(guard) => guard.release().await,
            Guard::Foreign(_) => Ok(()),
        }
    };
    match ending {
        Ending::Drop => drop(releasing),
        Ending::Release => {
            let outcome = releasing.await;
            engine.step("released", belief.task, &[u8::from(outcome.is_ok())]);
            if let Err(error) = outcome {
                judges.look_at_release(&engine, &belief, &error);
            }
        }
        Ending::Cancelled => {
            // Dropped at its first await point.
            drop(CutShort::new(releasing, Some(1)).await);
        }
    }
}
