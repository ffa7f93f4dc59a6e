//! The loop: all tasks that can run do, then time goes on to the next event.

use std::task::{Context, Poll};

use super::Nanos;
use super::core::{Call, Engine};
use super::process::ProcId;
use crate::server::Fleet;

/// How many turns of tasks at one instant are taken for an endless loop.
const BUSY: u64 = 200_000;

impl Engine {
    /// Does something later.
    pub(crate) fn at(&self, at: Nanos, call: Call) {
        self.called.set(self.called.get() + 1);
        let key = (at.max(self.now()), self.called.get());
        self.calls.borrow_mut().insert(key, call);
    }

    /// How often servers look after themselves.
    pub(crate) fn tick_every(&self, every: Nanos) {
        self.tick_every.set(every);
    }

    /// Runs until `over`, `limit`, or until nothing can happen any more.
    pub(crate) fn run(&self, limit: Nanos, over: impl Fn() -> bool) {
        loop {
            let mut turns = 0;
            while self.turn() {
                turns += 1;
                assert!(turns < BUSY, "tasks run without end at one instant");
            }
            if over() {
                return;
            }
            let next = self.next_due();
            if next > limit {
                self.now.set(limit.max(self.now()));
                return;
            }
            self.now.set(next.max(self.now()));
            self.happen();
        }
    }

    /// Runs a task, if one can.
    fn turn(&self) -> bool {
        let mut parked = Vec::new();
        let turn = {
            let processes = self.processes.borrow();
            let mut order = self.order.borrow_mut();
            let runs = |of: ProcId| processes[of.0].runs();
            (self.tasks.borrow_mut()).next(order.as_mut(), runs, &mut parked)
        };
        for (of, id) in parked {
            self.processes.borrow_mut()[of.0].parked.push(id);
        }
        let Some(mut turn) = turn else { return false };
        let mut cx = Context::from_waker(&turn.waker);
        let polled = self.acting(turn.of, || turn.task.as_mut().poll(&mut cx));
        match polled {
            Poll::Ready(()) => {
                self.tasks.borrow_mut().finished(turn.id);
                self.acting(turn.of, || drop(turn.task));
            }
            Poll::Pending => {
                let aborted = self.tasks.borrow_mut().put_back(turn.id, turn.task);
                self.acting(turn.of, || drop(aborted));
            }
        }
        true
    }

    fn next_due(&self) -> Nanos {
        let call = self
            .calls
            .borrow()
            .first_key_value()
            .map(|((at, _), _)| *at);
        let timer = self.timers.borrow_mut().next_due();
        let parcel = self.net.borrow().next_due();
        let others = [call, timer, parcel].into_iter().flatten().min();
        others.unwrap_or(Nanos::MAX).min(self.tick.get())
    }

    /// One thing that is due.
    fn happen(&self) {
        let now = self.now();
        let call = {
            let mut calls = self.calls.borrow_mut();
            calls
                .first_entry()
                .filter(|call| call.key().0 <= now)
                .map(|call| call.remove())
        };
        if let Some(call) = call {
            call(self);
            return;
        }
        let parcel = self.net.borrow_mut().arrive(now);
        if let Some(parcel) = parcel {
            self.deliver(parcel);
            return;
        }
        let timer = self.timers.borrow_mut().fire(now);
        if let Some(waker) = timer {
            waker.wake();
            return;
        }
        if self.tick.get() <= now {
            self.tick.set(now + self.tick_every.get());
            self.with_fleet(Fleet::tick);
        }
    }
}
