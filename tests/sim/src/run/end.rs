//! The leftovers after all clients have been shut down.

use std::rc::Rc;

use crate::clients::Sim;
use crate::engine::SECOND;

/// A free lock is forgotten within about a minute, and one whose holder crashed a lease later.
pub(super) fn wait_until_forgotten(sim: &Rc<Sim>) {
    let lease = sim.plan.longest_lease();
    sim.engine.tick_every(SECOND);
    if sim.plan.setup.members > 0 {
        let until = sim.engine.now() + lease + lease / 50 + 5 * SECOND;
        sim.engine.run(until, || sim.judges.verdict().is_some());
        sim.judges.look_for_holds(&sim.engine);
    }
    // A token that is ahead of a clock is remembered until then.
    let ahead = sim.plan.setup.ahead.iter().copied().max().unwrap_or(0);
    let ahead = u64::try_from(ahead).unwrap_or(0) * 1_000;
    let ahead = if sim.plan.setup.members > 0 {
        ahead + ahead / 50 + 20 * SECOND
    } else {
        0
    };
    let until = sim.engine.now() + lease + lease / 50 + 90 * SECOND + ahead;
    sim.engine.run(until, || sim.judges.verdict().is_some());
    sim.judges.look_at_keys(&sim.engine);
}
