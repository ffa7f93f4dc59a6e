//! Slots that move in one step, or do not after all: the source pauses writes, then it hands the slot over or goes on.

use std::rc::Rc;

use super::begin::AtWork;
use super::slots::{carries, course, moved};
use crate::engine::Nanos;
use crate::server::Migration;

/// A lock's slot moves after a pause, or stays.
pub(super) fn move_at_once(at_work: AtWork, lock: usize, to: usize, pause: Nanos, moves: bool) {
    let sim = Rc::clone(at_work.sim());
    let Some((slot, from, to)) = course(&sim, lock, to) else {
        return;
    };
    let migration = Migration { slot, from, to };
    sim.moving.borrow_mut().push(migration);
    sim.engine.with_fleet(|fleet, _| fleet.pause_writes(from));
    at_work.then(pause, move |engine, at_work| {
        let sim = at_work.sim();
        if moves {
            carries(&at_work, migration);
            engine.with_fleet(|fleet, now| {
                let stays = fleet.owner(slot) == from && !fleet.is_deposed(from);
                if stays && !fleet.is_deposed(to) && fleet.has_heard_of_the_latest_epoch(to) {
                    fleet.move_at_once(now, slot, to);
                }
            });
        }
        engine.with_fleet(|fleet, now| fleet.end_pause(now, from));
        sim.judges.look_at_all_lines(engine);
        moved(&at_work, migration);
    });
}
