//! A `min_hold`: no other client has the lock before it is over, although its holder has released it.

use super::Judges;
use super::belief::{Belief, seconds};
use super::guard::Guard;
use crate::engine::{Engine, Nanos};

/// What was given back early.
pub(super) type Rests = Vec<Belief>;

impl Belief {
    /// Until when no other client may have it: clocks may differ by a hundredth.
    fn rests_until(&self) -> Nanos {
        let long = self.min_hold.unwrap_or(0);
        self.since + long - long / 100
    }
}

impl Judges {
    /// A hold has ended that was not lost.
    pub(super) fn rests(&self, belief: &Belief, guard: &Guard) {
        if belief.min_hold.is_some() && !guard.is_lost() {
            let mut rest = belief.clone();
            if guard.is_one_of_several() {
                // One of several may have been had long before the last of them.
                rest.since = rest.asked;
            }
            self.rests.borrow_mut().push(rest);
        }
    }

    /// A task was granted a lock.
    pub(super) fn look_at_rests(&self, engine: &Engine, belief: &Belief) {
        let now = engine.now();
        let mut rests = self.rests.borrow_mut();
        rests.retain(|rest| rest.rests_until() > now);
        let Some(rest) = rests.iter().find(|rest| rest.conflicts(belief)) else {
            return;
        };
        if self.must_have_been_kept(engine, rest) && self.must_have_been_kept(engine, belief) {
            let story = format!(
                "{} got what {} was to keep until {:.6} s",
                belief.name(),
                rest.name(),
                seconds(rest.rests_until())
            );
            self.object("min_hold", now, story);
        }
    }
}
