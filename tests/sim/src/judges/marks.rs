//! A client that joins the queue of a mutex leaves a mark at the hold in its way: otherwise its holder's release notifies no
//! waiter.

use super::Judges;
use super::home::is_foreign;
use super::others::{Before, Hold};
use crate::engine::Engine;
use crate::server::NodeId;

impl Judges {
    /// How many places a server knows in the line of a mutex.
    pub(super) fn places_of(&self, engine: &Engine, lock: usize, node: NodeId) -> usize {
        self.homes[lock].look_at(engine, node, |record| {
            record.map_or(0, |record| record.places().count())
        })
    }

    /// A request about a mutex has been carried out.
    pub(super) fn look_at_mark(
        &self,
        engine: &Engine,
        before: &Before,
        after: Option<&Hold>,
        node: NodeId,
    ) {
        let (lock, Some(was), Some(is)) = (before.lock, &before.hold, after) else {
            return;
        };
        // A script that fails has taken the place, and no answer says so.
        let joined =
            self.must_be_kept(engine.now()) && self.places_of(engine, lock, node) > before.places;
        if !joined || was.id != is.id || is_foreign(&is.id) {
            return;
        }
        // A new waiter does not read the string of a mutex that was handed over: whose that is now, took it past the line.
        let home = &self.homes[lock];
        let past = engine.fleet(|fleet| {
            let passed_on = home.passed_on(fleet, node);
            passed_on.is_some_and(|id| id != is.id)
        });
        if !past && !engine.fleet(|fleet| home.is_marked(fleet, node)) {
            let story = format!(
                "somebody waits for mutex {lock}, and {} does not say so",
                is.id
            );
            self.object("marks", engine.now(), story);
        }
    }
}
