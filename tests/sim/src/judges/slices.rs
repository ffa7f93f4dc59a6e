//! A slice: for how long a process passes a write hold on among its tasks before it asks the server whether others wait.

use dlock_load::DlockGuard;

use super::Judges;
use super::belief::{Belief, Beliefs, seconds};
use super::guard::Guard;
use crate::engine::{Engine, MS, Nanos};

/// Five milliseconds, and what clocks may differ by.
const LENGTH: Nanos = 5 * MS + MS / 20;

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
        if matches!(guard, DlockGuard::Read(_) | DlockGuard::Several(_)) {
            return;
        }
        // A hold without a name is known by the record at masters, which may have changed.
        if matches!(guard, DlockGuard::Mutex(_)) && !self.must_be_kept(engine.now()) {
            return;
        }
        let begun = beliefs.granted_first(belief);
        let passed_on = beliefs.left(belief);
        if passed_on.is_some_and(|at| at > begun + LENGTH) {
            let story = format!(
                "{} was passed on a hold whose slice had begun at {:.6} s",
                belief.name(),
                seconds(begun)
            );
            self.object("slices", engine.now(), story);
        }
    }
}
