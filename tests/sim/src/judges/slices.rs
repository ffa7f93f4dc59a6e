//! A slice: for how long a process passes a write hold on among its tasks before it asks the server whether others wait.

use dlock_load::DlockGuard;

use super::Judges;
use super::belief::{Belief, Beliefs, seconds};
use super::guard::Guard;
use super::lingering::SLICE;
use crate::engine::Engine;

impl Judges {
    /// A task was granted a lock, perhaps by another task of its process. The slice began when the first of them was granted
    /// what the server had named for it, or before.
    pub(super) fn look_at_slice(
        &self,
        engine: &Engine,
        beliefs: &Beliefs,
        belief: &Belief,
        guard: &Guard,
    ) {
        let Guard::Dlock(guard) = guard else { return };
        let begun = beliefs.granted_first(belief);
        if let Some(known) = self.knows_since(engine.now(), belief) {
            if begun < engine.now() && engine.now() > begun.max(known) + SLICE {
                let story = format!(
                    "{} got a hold in its process, which must know since {:.6} s that others wait",
                    belief.name(),
                    seconds(known)
                );
                self.object("slices", engine.now(), story);
            }
            return;
        }
        if matches!(guard, DlockGuard::Read(_) | DlockGuard::Several(_)) {
            return;
        }
        // A hold without a name, and one that may linger, is known by the record at masters, which may have changed.
        let by_record = matches!(guard, DlockGuard::Mutex(_)) || self.lets_it_linger(belief);
        if by_record && !self.must_be_kept(engine.now()) {
            return;
        }
        // A server that has lost a hold and its token may give both away again: that is another hold, with the same token.
        let twice = || (self.excuses.borrow()).token_excuse(engine, belief.claim());
        let passed_on = beliefs.left(belief);
        if passed_on.is_some_and(|at| at > begun + SLICE) && twice().is_none() {
            let story = format!(
                "{} was passed on a hold whose slice had begun at {:.6} s",
                belief.name(),
                seconds(begun)
            );
            self.object("slices", engine.now(), story);
        }
    }
}
