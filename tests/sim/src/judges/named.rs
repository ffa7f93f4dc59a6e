//! What holds have in common that are passed on in a process: what the server named.

use super::belief::{Belief, Beliefs};
use crate::engine::Nanos;

/// What a server named, and whether for writing: a quorum may name the same for a reader and the next writer.
pub(super) type Named = (u64, bool);

impl Beliefs {
    /// When the hold was asked for that this belief is about, as far as one sees by what the server named.
    pub(super) fn asked_first(&mut self, belief: &Belief) -> Nanos {
        let hold = (belief.lock, belief.of, belief.named());
        let first = (belief.asked, belief.since);
        self.first.entry(hold).or_insert(first).0
    }

    /// When a task was granted it.
    pub(super) fn granted_first(&self, belief: &Belief) -> Nanos {
        let first = self.first.get(&(belief.lock, belief.of, belief.named()));
        first.map_or(belief.since, |first| first.1)
    }

    /// Of one that is gone by now: what its process had at this moment, as others take longer than none to ask for; otherwise
    /// it is like no other.
    pub(super) fn passed_on(&self, belief: &Belief, now: Nanos) -> Option<u64> {
        let left = self.left.get(&(belief.lock, belief.of));
        let ((named, _), _) = left.filter(|(_, at)| *at == now)?;
        Some(*named)
    }

    /// When a task of its process left the hold that the server had named so last, if that hold was left last.
    pub(super) fn left(&self, belief: &Belief) -> Option<Nanos> {
        let left = self.left.get(&(belief.lock, belief.of));
        left.filter(|left| left.0 == belief.named())
            .map(|left| left.1)
    }
}
