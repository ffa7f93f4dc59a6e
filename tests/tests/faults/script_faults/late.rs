//! Every request of a scene, sent again and answered, and its first copy delivered in every later state, in all orders.

use std::collections::HashSet;

use dlock::__internals::Op;
use dlock_tests::Stage;

use crate::script_faults::act::{Act, id};
use crate::script_faults::drain::drain;
use crate::script_faults::kind::Kind as _;
use crate::script_faults::mutex::Mutex;
use crate::script_faults::world::{Sent, World};

/// Counts what was tried.
#[derive(Default)]
pub(crate) struct Late {
    pub(crate) delivered: u64,
    drains: HashSet<u64>,
}

impl Late {
    /// Every act from this state, and then copies of all requests so far, two at a time in either order.
    pub(crate) fn enumerate(&mut self, stage: &Stage, world: &World<Mutex>) -> Result<(), String> {
        for act in world.acts() {
            let mut later = world.clone();
            later.restore(stage);
            later.play(stage, act, None)?;
            for pass in [1_000, 1_500_000, 2_500_000] {
                let mut later = later.clone();
                later.pass(pass);
                self.in_all_orders(stage, &later)
                    .map_err(|why| format!("after {act:?} and {pass} µs: {why}"))?;
            }
        }
        Ok(())
    }

    fn in_all_orders(&mut self, stage: &Stage, world: &World<Mutex>) -> Result<(), String> {
        let copies: Vec<&Sent> = world
            .sent
            .iter()
            .filter(|sent| may_come(world, sent))
            .collect();
        for first in &copies {
            for second in &copies {
                let mut world = world.clone();
                world.restore(stage);
                for sent in [first, second] {
                    self.deliver(stage, &mut world, sent)
                        .map_err(|why| format!("{:?}: {why}\n{world:?}", sent.act))?;
                }
                if self.drains.insert(world.fingerprint()) {
                    drain(stage, &mut world)
                        .map_err(|why| format!("{:?}, {:?}: {why}", first.act, second.act))?;
                }
            }
        }
        Ok(())
    }

    /// Nothing may come of it: no hold, no place, no end of a hold. (But that a plain `SET` finds a free mutex, which
    /// no server can prevent. The next client removes the hold; the drain sees to that.)
    fn deliver(
        &mut self,
        stage: &Stage,
        world: &mut World<Mutex>,
        sent: &Sent,
    ) -> Result<(), String> {
        self.delivered += 1;
        let before = gist(world)?;
        let beliefs = (world.believers.clone(), world.waiting.clone());
        let ended = world.ended.clone();
        let tokens = world.tokens.clone();
        world.deliver(stage, sent, None)?;
        let mut after = gist(world)?;
        // A mark may be set late, and never goes while the holder stays.
        if let (Some(found), Some(left)) = (&before.0, &mut after.0) {
            left.marked &= found.marked || found.value != left.value;
        }
        let is_plain = sent.plain && matches!(sent.op, Op::Acquire { .. });
        // Such a hold is nobody's: copies of what has settled it may remove it, or end it earlier.
        let ends = ends_earlier(&before, &after, sent);
        // No client waits for the answer.
        (world.believers, world.waiting) = beliefs;
        (world.ended, world.tokens) = (ended, tokens);
        let may_change = is_plain && before.0.is_none() || ends;
        if before != after && !may_change {
            return Err(format!("{before:?} has become {after:?}"));
        }
        world.judge(None)
    }
}

/// The holder, its deadline, and the waiters.
type Gist = (Option<dlock_tests::Held>, Vec<String>);

fn gist(world: &World<Mutex>) -> Result<Gist, String> {
    let record = Mutex::record(world)?;
    let live = |deadline: u64| deadline > world.time;
    let places = record.beside.writers.places.values();
    let places = places.filter(|place| live(place.deadline));
    Ok((
        world.held.clone().filter(|held| held.is_live(world.time)),
        places.map(|place| place.id.clone()).collect(),
    ))
}

/// Whether all that a request has done is to end a hold of its own earlier.
fn ends_earlier(before: &Gist, after: &Gist, sent: &Sent) -> bool {
    let Some(actor) = sent.act.actor() else {
        return false;
    };
    let own = |held: &dlock_tests::Held| held.value == id::<Mutex>(actor).to_string();
    let was_own = before.0.as_ref().is_some_and(own);
    let shorter = after.0.as_ref().is_none_or(|held| {
        own(held)
            && before
                .0
                .as_ref()
                .is_some_and(|before| held.until <= before.until)
    });
    was_own && shorter && before.1 == after.1
}

/// Whether this may still be on its way, and what it asks for is settled: its client has gone on, and has told the server if
/// it was an acquire that may come late.
fn may_come(world: &World<Mutex>, sent: &Sent) -> bool {
    let Some(actor) = sent.act.actor() else {
        return false;
    };
    let settled = !world.believers.contains_key(&actor) && !world.waiting.contains(&actor);
    let later = world
        .sent
        .iter()
        .skip_while(|other| !std::ptr::eq(*other, sent));
    let mut acts = later.map(|sent| sent.act);
    let told = acts.any(|act| act.actor() == Some(actor) && act.is_stray());
    let is_acquire = matches!(sent.act, Act::Wait(_) | Act::Try(_));
    // What the server remembers ends with the time for which requests are valid; a plain `SET` has no such time.
    settled && (!is_acquire || told)
}
