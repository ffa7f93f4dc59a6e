//! One operation after the other: asking for locks, with whatever patience.

use std::{cell::Cell, rc::Rc, time::Duration};

use dlock::{__private::Request, Client, LockMode};
use dlock_load::{CutShort, DlockGuard, Op, Patience};
use dlock_tests::history::Journal;
use tokio::time::sleep;

use super::{
    hold::{Holding, hold},
    resource::Resource,
    system::{Guard, System, Why, why},
};
use crate::plan::{Plan, TaskPlan, name_as};

/// So many calls are enough for a history: a process that passes a lock on in memory would fill the disk.
const MANY: u64 = 20_000;
const BREAK: Duration = Duration::from_millis(20);

/// What the tasks of a process share.
pub(super) struct Work {
    plan: Plan,
    process: usize,
    life: usize,
    pub(super) system: System,
    pub(super) journal: Rc<Journal>,
    pub(super) resource: Resource,
    stop: Cell<bool>,
}

impl Work {
    pub(super) fn new(
        plan: Plan,
        process: usize,
        life: usize,
        system: System,
        journal: Rc<Journal>,
        resource: Resource,
    ) -> Self {
        Self {
            plan,
            process,
            life,
            system,
            journal,
            resource,
            stop: Cell::new(false),
        }
    }

    pub(super) fn tasks(&self) -> Vec<TaskPlan> {
        self.plan.processes[self.process].tasks.clone()
    }

    /// A lock, and as what it is taken.
    pub(super) fn lock(&self, lock: usize) -> (usize, dlock::LockKind) {
        (lock, self.plan.taken_as(self.process, lock))
    }

    /// Begins nothing new from now on.
    pub(super) fn stop(&self) {
        self.stop.set(true);
    }
}

/// What a task does.
pub(super) async fn work(work: Rc<Work>, task: TaskPlan) {
    // What a process did in an earlier life, it does not do again.
    let first = (work.life as u64) << 20;
    for number in first.. {
        if work.stop.get() {
            return;
        }
        let op = work.plan.op(work.process, task, number);
        sleep(Duration::from_nanos(op.rest)).await;
        if work.journal.calls() > MANY {
            sleep(BREAK).await;
        }
        act(&work, op).await;
    }
}

async fn act(work: &Work, op: Op) {
    if let (Some(client), 2..) = (work.system.client(), op.locks.len()) {
        return several(work, client, &op).await;
    }
    let lock = op.locks[0];
    let id = work
        .journal
        .asks(lock, op.write, op.owner, op.patience, false);
    let asking = work
        .system
        .ask(work.lock(lock), op.write, op.owner, op.patience);
    let outcome = CutShort::new(asking, op.cancel).await;
    if let Some(guard) = heard(work, &[id], outcome).await {
        hold(Holding::new(work, &op, lock, op.write, id, guard), &op).await;
    }
}

/// What came of asking.
async fn heard<T>(work: &Work, ids: &[u64], outcome: Option<Result<Option<T>, Why>>) -> Option<T> {
    let why = match outcome {
        Some(Ok(Some(got))) => return Some(got),
        Some(Ok(None)) => "busy".to_owned(),
        Some(Err(why)) => why,
        None => "cancelled".to_owned(),
    };
    for id in ids {
        work.journal.did_not_get(*id, &why);
    }
    // Errors that come at once are not to fill the disk.
    sleep(Duration::from_millis(2)).await;
    None
}

/// Asks for several locks through the attribute.
async fn several(work: &Work, client: &Client, op: &Op) {
    let mode = if op.write {
        LockMode::Write
    } else {
        LockMode::Read
    };
    let (_, kind) = work.lock(op.locks[0]);
    let names = op.locks.iter().map(|lock| name_as(kind, *lock));
    let request = Request::each(names, "several", mode)
        .client(client)
        .kind(kind);
    let request = match op.patience {
        Patience::Forever => request.wait_forever(),
        Patience::For(long) => request.wait(Duration::from_nanos(long)),
        Patience::Try => request.try_once(),
    };
    let request = if op.until_lost {
        request
    } else {
        request.continue_when_lost()
    };
    let ask = |lock: &usize| work.journal.asks(*lock, op.write, None, op.patience, true);
    let ids: Vec<u64> = op.locks.iter().map(ask).collect();
    let asking = async {
        let got = request.acquire().await;
        got.map(Some).map_err(|error| why(&error))
    };
    let outcome = CutShort::new(asking, op.cancel).await;
    let Some(grant) = heard(work, &ids, outcome).await else {
        return;
    };
    let held = op.locks.iter().zip(grant.held()).zip(&ids);
    let holdings: Vec<Holding> = held
        .map(|((lock, held), id)| {
            let guard = Guard::Dlock(DlockGuard::Several(held));
            Holding::new(work, op, *lock, op.write, *id, guard)
        })
        .collect();
    let body = async move {
        let mut read = Vec::new();
        for holding in &holdings {
            read.push(holding.read().await);
        }
        for holding in &holdings {
            holding
                .linger(&Op {
                    hold: op.hold / holdings.len() as u64,
                    until_lost: false,
                    ..op.clone()
                })
                .await;
        }
        for (holding, read) in holdings.iter().zip(read) {
            holding.write(read).await;
        }
        // The attribute lets go when the body ends.
        drop(holdings);
    };
    let outcome = grant.run(body).await;
    let outcome = outcome
        .err()
        .map_or("ok".to_owned(), |loss| why(&loss.into_error()));
    for id in ids {
        work.journal.released(id, &outcome);
    }
}
