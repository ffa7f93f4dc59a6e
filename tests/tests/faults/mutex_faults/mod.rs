//! What `script_faults` and `late_requests` show, for the scripts of mutexes: whatever command is refused, and
//! whichever request comes late, no client hears of a grant that is not there, no other client's hold is freed, nothing
//! is kept for ever, and the queue goes on.

mod act;
mod beliefs;
mod drain;
mod judge;
mod late;
mod scenes;
mod world;

use std::collections::HashSet;
use std::io::Write as _;
use std::time::Instant;

use dlock_tests::{Fault, Stage, shared_server};
use tokio::runtime::Runtime;

use self::act::Act;
use self::world::World;
use crate::script_faults::faults;

#[test]
fn a_refused_command_of_a_mutex_leaves_nothing_worse_than_a_hold_until_its_lease_ends() {
    let (stage, start) = (stage(), Instant::now());
    let (mut injected, mut drains) = (0, HashSet::new());
    for (name, world) in scenes::all(&stage) {
        for act in world.acts() {
            let mut number = 1;
            loop {
                let mut reached = false;
                for fault in faults::at(number) {
                    let one = inject(&stage, &world, act, &fault, &mut drains);
                    let one = one.unwrap_or_else(|why| {
                        panic!("{name}: {act:?} with {fault:?}: {why}\n{world:?}")
                    });
                    reached |= one;
                    injected += u64::from(one);
                }
                if !reached {
                    break;
                }
                number += 1;
            }
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{injected} faults of mutexes, {} different outcomes, {:.1} s: nothing worse than expected",
        drains.len(),
        start.elapsed().as_secs_f64()
    );
}

/// Whether the script got as far as the fault.
fn inject(
    stage: &Stage,
    world: &World,
    act: Act,
    fault: &Fault<'static>,
    drains: &mut HashSet<u64>,
) -> Result<bool, String> {
    let mut world = world.clone();
    world.restore(stage);
    let calls = world.play(stage, act, Some(*fault))?;
    if calls < fault.from {
        return Ok(false);
    }
    // A client that got no answer to an acquire sends it again, or gives it up.
    if let (Act::Wait(actor) | Act::Try(actor), 1) = (act, fault.from % 2) {
        world.play(stage, Act::AbandonStray(actor), None)?;
    }
    // Equal outcomes go on in equal ways.
    if drains.insert(world.fingerprint()) {
        drain::drain(stage, &mut world)?;
    }
    Ok(true)
}

#[test]
fn late_requests_of_a_mutex_have_no_effect_in_any_order() {
    let (stage, start) = (stage(), Instant::now());
    let mut late = late::Late::default();
    for (name, world) in scenes::all(&stage) {
        late.enumerate(&stage, &world)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let _ = writeln!(
        std::io::stderr(),
        "{} late requests of mutexes, {:.1} s: without effect",
        late.delivered,
        start.elapsed().as_secs_f64()
    );
}

fn stage() -> Stage {
    Stage::on(Runtime::new().expect("a runtime").block_on(shared_server()))
}
