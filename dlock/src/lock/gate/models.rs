//! Models of tasks that meet at a gate.

use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use shuttle::future::block_on;
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use tokio::sync::Notify;

use super::{Acquired, Entry, Gates, Turn};
use crate::hold::models::{Sent, hold, key};
use crate::hold::{Hold, Keeper, OnLoss};
use crate::kind::LockMode;
use crate::protocol::{HoldId, Op};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::modelled::{check, fails};

fn acquired(hold: Arc<Hold>) -> Acquired {
    Acquired::new(hold, &mut None, false)
}

impl Gates {
    /// Gates whose keeper has no tasks.
    fn idle() -> (Arc<Self>, Sent) {
        let mut sent = None;
        let gates = Arc::new_cyclic(|gates: &Weak<Self>| {
            let on_loss: Weak<dyn OnLoss> = gates.clone();
            let (keeper, releases) = Keeper::idle(on_loss);
            sent = Some(releases);
            Self {
                shards: std::array::from_fn(|_| crate::sync::Mutex::default()),
                closed: AtomicBool::new(false),
                draining: AtomicBool::new(false),
                places: AtomicU64::new(0),
                restless: super::watch::Restless::default(),
                keeper: Arc::new(keeper),
            }
        });
        (gates, sent.expect("made"))
    }
}

/// What the server would do.
#[derive(Default)]
struct Server {
    holds: Mutex<Vec<(HoldId, LockMode)>>,
    freed: Condvar,
}

impl Server {
    /// Waits until the lock is free and grants it for the `n`th time.
    fn grant(&self, n: u64, mode: LockMode) -> Arc<Hold> {
        let mut holds = self.holds.lock().expect("whole");
        while holds
            .iter()
            .any(|(_, other)| *other == LockMode::Write || mode == LockMode::Write)
        {
            holds = self.freed.wait(holds).expect("whole");
        }
        let hold = hold(n, mode);
        holds.push((hold.id.clone(), mode));
        hold
    }

    fn free(&self, id: &HoldId) {
        let mut holds = self.holds.lock().expect("whole");
        let at = holds.iter().position(|(hold, _)| hold == id);
        holds.swap_remove(at.expect("given back once"));
        self.freed.notify_all();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// A task that goes away stays in the line.
    KeepsPlace,
    /// A task that cannot ask the server does not report that.
    KeepsLead,
    /// A task that has left the hold does not report that.
    KeepsShare,
}

/// One task, which may lose its patience and may fail to reach the server.
fn task(
    gates: &Arc<Gates>,
    server: &Server,
    inside: &Mutex<Vec<LockMode>>,
    n: u64,
    mistake: Mistake,
) {
    let mode = if thread_rng().gen_bool(0.3) {
        LockMode::Read
    } else {
        LockMode::Write
    };
    let turn = match gates.enter(&key(), hold(n, mode).terms, true) {
        Entry::Turn(turn) => turn,
        Entry::Wait(mut place) if thread_rng().gen_bool(0.3) => {
            let Some(turn) = place.turn().now_or_never() else {
                if mistake == Mistake::KeepsPlace {
                    std::mem::forget(place);
                }
                return;
            };
            turn
        }
        Entry::Wait(mut place) => block_on(place.turn()),
        Entry::Busy | Entry::Alone => unreachable!("it waits"),
    };
    let share = match turn {
        Turn::Granted(share) => share,
        Turn::Lead(mut lead) => match lead.take_share() {
            Some(share) => {
                lead.slice_granted(share.hold());
                share
            }
            None if thread_rng().gen_bool(0.2) => {
                if mistake == Mistake::KeepsLead {
                    std::mem::forget(lead);
                }
                return;
            }
            None => lead.hold_granted(acquired(server.grant(n, mode))),
        },
        Turn::Failed(_) => unreachable!("nobody closes"),
    };
    let others = || inside.lock().expect("whole");
    assert!(
        others()
            .iter()
            .all(|other| (*other, mode) == (LockMode::Read, LockMode::Read)),
        "a writer beside somebody"
    );
    others().push(mode);
    thread::yield_now();
    let at = others().iter().position(|other| *other == mode);
    others().swap_remove(at.expect("inside"));
    if mistake == Mistake::KeepsShare {
        std::mem::forget(share);
    }
}

fn meet(mistake: Mistake) {
    let (gates, mut sent) = Gates::idle();
    let server = Arc::new(Server::default());
    let inside = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (1..=4)
        .map(|n| {
            let (gates, server, inside) = (gates.clone(), server.clone(), inside.clone());
            thread::spawn(move || task(&gates, &server, &inside, n, mistake))
        })
        .collect();
    let over = Arc::new(Notify::new());
    let (frees, end) = (Arc::clone(&server), Arc::clone(&over));
    let delivers = thread::spawn(move || {
        let next = async |sent: &mut Sent| {
            tokio::select! { biased; op = sent.next() => op, () = end.notified() => None }
        };
        while let Some(op) = block_on(next(&mut sent)) {
            if let Op::Release { hold, .. } = op {
                frees.free(&hold);
            }
        }
    });
    for task in tasks {
        task.join().expect("ends");
    }
    over.notify_one();
    delivers.join().expect("ends");
    let holds = server.holds.lock().expect("whole");
    assert!(holds.is_empty(), "not given back");
}

#[test]
fn nobody_waits_for_ever_and_writers_are_alone() {
    check(|| meet(Mistake::None));
}

#[test]
fn mistakes_are_noticed() {
    for mistake in [Mistake::KeepsPlace, Mistake::KeepsLead, Mistake::KeepsShare] {
        fails(move || meet(mistake));
    }
}

/// A task comes while another one holds. What happens in between has to let the new task go on.
fn comes_between(happens: impl FnOnce(&Arc<Gates>, &Arc<Hold>)) -> Option<Turn> {
    let (gates, _sent) = Gates::idle();
    let hold = hold(1, LockMode::Write);
    let Entry::Turn(Turn::Lead(lead)) = gates.enter(&key(), hold.terms, true) else {
        unreachable!("nobody else is there");
    };
    let share = lead.hold_granted(acquired(Arc::clone(&hold)));
    let (door, terms) = (Arc::clone(&gates), hold.terms);
    let comes = thread::spawn(move || match door.enter(&key(), terms, true) {
        Entry::Turn(turn) => Some(turn),
        Entry::Wait(mut place) => Some(block_on(place.turn())),
        Entry::Busy | Entry::Alone => None,
    });
    happens(&gates, &hold);
    let turn = comes.join().expect("ends");
    drop(share);
    turn
}

/// The client is shut down. With the mistake, waiting tasks are not notified.
fn closes(forgets: bool) {
    let turn = comes_between(|gates, _| {
        if forgets {
            gates.closed.store(true, Ordering::Release);
        } else {
            gates.close(false);
        }
    });
    assert!(matches!(turn, Some(Turn::Failed(_))));
}

#[test]
fn who_waits_hears_of_the_end() {
    check(|| closes(false));
    fails(|| closes(true));
}

/// The hold is lost. With the mistake, the gate is not told.
fn loses(forgets: bool) {
    let turn = comes_between(|gates, hold| {
        if !forgets {
            Arc::clone(gates).lost(hold);
        }
    });
    assert!(matches!(turn, Some(Turn::Lead(_))));
}

#[test]
fn who_waits_for_a_hold_that_is_lost_asks_for_another() {
    check(|| loses(false));
    fails(|| loses(true));
}
