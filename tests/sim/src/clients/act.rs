//! One operation: asking for locks, with whatever patience.

use std::rc::Rc;
use std::time::Duration;

use dlock::__private::Request;
use dlock::{Client, Error, LockKind, LockMode};
use dlock_load::{CutShort, DlockGuard, Handle};

use super::hold::{Holding, hold};
use super::sim::Sim;
use crate::engine::{Nanos, ProcId};
use crate::faults;
use crate::history::Kind;
use crate::judges::{Belief, Guard, Told, Waiting};
use crate::plan::{Op, Patience, ProcessPlan, Setup};

/// Does one operation, from asking to giving back.
pub(crate) async fn act(sim: &Rc<Sim>, who: Who, plan: &ProcessPlan, client: &Client, op: Op) {
    sim.begun.set(sim.begun.get() + 1);
    faults::look(sim);
    if op.locks.len() > 1 {
        several(sim, who, plan, client, &op).await;
        return;
    }
    let named = (kind_of(sim, plan, op.locks[0]), Setup::lock(op.locks[0]));
    let Ok(lock) = Handle::new(client, named, op.owner, op.min_hold) else {
        return;
    };
    let may_linger = op.owner.is_none() && op.min_hold.is_none();
    let lock = lock.linger(plan.linger.filter(|_| may_linger));
    let asked = sim.engine.now();
    let asking = lock.ask(op.write, op.patience);
    let waiting = wait(sim, who, &op);
    let outcome = CutShort::new(asking, op.cancel).await;
    waiting.end(Told::of(outcome.as_ref()));
    let Some(guard) = heard(sim, who, &op, outcome) else {
        return;
    };
    let belief = who.belief(&op, op.locks[0], op.write, asked, sim.engine.now());
    let holding = Holding::new(sim, belief, Guard::Dlock(guard));
    hold(sim, holding, &op, &lock, who).await;
    sim.count();
}

/// A task of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Who {
    pub(crate) of: ProcId,
    pub(crate) task: u64,
    /// Of its client.
    pub(crate) max_hold: Option<Nanos>,
    pub(crate) lease: Nanos,
}

impl Who {
    pub(super) fn belief(
        self,
        op: &Op,
        lock: usize,
        write: bool,
        asked: Nanos,
        since: Nanos,
    ) -> Belief {
        Belief {
            of: self.of,
            task: self.task,
            lock,
            write,
            owner: op.owner,
            asked,
            since,
            min_hold: op.min_hold,
            max_hold: self.max_hold,
            lease: self.lease,
            named: 0,
            guard: std::rc::Weak::new(),
        }
    }
}

/// What came of asking.
fn heard<T>(sim: &Sim, who: Who, op: &Op, outcome: Option<Result<Option<T>, Error>>) -> Option<T> {
    sim.count();
    let (tell, got) = match outcome {
        Some(Ok(Some(got))) => (None, Some(got)),
        Some(Ok(None)) => (Some("busy".to_owned()), None),
        Some(Err(error)) => (Some(error.to_string()), None),
        None => (Some("dropped".to_owned()), None),
    };
    let Who { of, task, .. } = who;
    sim.engine.step(
        "outcome",
        task,
        tell.as_deref().unwrap_or("granted").as_bytes(),
    );
    if let Some(tell) = tell {
        let mode = if op.write { "write" } else { "read" };
        sim.engine.tell(Kind::Client, || {
            format!("p{} t{task} {mode} {:?}: {tell}", of.0, op.locks)
        });
    }
    got
}

/// Waits as long as this lives.
struct Wait<'a>(&'a Sim, u64);

fn wait<'a>(sim: &'a Sim, who: Who, op: &Op) -> Wait<'a> {
    sim.engine.tell(Kind::Client, || {
        let mode = if op.write { "write" } else { "read" };
        let (owner, patience, cancel) = (op.owner, op.patience, op.cancel);
        let owner = owner.map_or_else(String::new, |owner| format!(", owner {owner}"));
        let dropped = cancel.map_or_else(String::new, |polls| format!(", dropped at poll {polls}"));
        format!(
            "p{} t{} asks to {mode} {:?} ({patience:?}{owner}{dropped})",
            who.of.0, who.task, op.locks
        )
    });
    let waiting = Waiting {
        of: who.of,
        task: who.task,
        locks: op.locks.clone(),
        write: op.write,
        patience: op.patience,
    };
    Wait(sim, sim.judges.waits(sim.engine.now(), waiting))
}

impl Wait<'_> {
    /// There is an answer.
    fn end(self, told: Told) {
        let Self(sim, number) = self;
        sim.judges.look_at_answer(&sim.engine, number, told);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let now = self.0.engine.now();
        self.0.judges.stops_waiting(now, self.1);
    }
}

fn kind_of(sim: &Sim, plan: &ProcessPlan, lock: usize) -> LockKind {
    match sim.plan.setup.mutexes.has(lock) {
        false => LockKind::Rw,
        true if plan.fenced => LockKind::FencedMutex,
        true => LockKind::Mutex,
    }
}

/// Asks for several locks through the attribute.
async fn several(sim: &Rc<Sim>, who: Who, plan: &ProcessPlan, client: &Client, op: &Op) {
    let mode = if op.write {
        LockMode::Write
    } else {
        LockMode::Read
    };
    let names = op.locks.iter().map(|lock| Setup::lock(*lock));
    let request = Request::each(names, "several", mode)
        .client(client)
        .kind(kind_of(sim, plan, op.locks[0]));
    let request = match op.patience {
        Patience::Forever => request.wait_forever(),
        Patience::For(long) => request.wait(Duration::from_nanos(long)),
        Patience::Try => request.try_once(),
    };
    let request = match op.min_hold {
        Some(min_hold) => request.min_hold(Duration::from_nanos(min_hold)),
        None => request,
    };
    let request = if op.until_lost {
        request
    } else {
        request.continue_when_lost()
    };
    let asked = sim.engine.now();
    let waiting = wait(sim, who, op);
    let asking = async { request.acquire().await.map(Some) };
    let outcome = CutShort::new(asking, op.cancel).await;
    waiting.end(Told::of(outcome.as_ref()));
    let Some(grant) = heard(sim, who, op, outcome) else {
        return;
    };
    let now = sim.engine.now();
    let holdings: Vec<Holding> = op
        .locks
        .iter()
        .zip(grant.held())
        .map(|(lock, held)| {
            let belief = who.belief(op, *lock, op.write, asked, now);
            Holding::new(sim, belief, Guard::Dlock(DlockGuard::Several(held)))
        })
        .collect();
    let body = async move {
        let read: Vec<Option<u64>> = holdings.iter().map(Holding::read).collect();
        dlock::sim::sleep(Duration::from_nanos(op.hold)).await;
        if op.until_lost && holdings.iter().any(Holding::is_lost) {
            sim.judges.goes_on(&sim.engine, who.of);
        }
        for (holding, read) in holdings.iter().zip(read) {
            holding.write(read);
        }
        // The attribute lets go when the body ends.
        drop(holdings);
    };
    let outcome = grant.run(body).await;
    sim.engine
        .step("ran", who.task, &[u8::from(outcome.is_ok())]);
    sim.count();
}
