//! A writer's token is larger than those that were believed before.

use super::Judges;
use super::belief::{Belief, Beliefs, seconds};
use super::excuses::Claim;
use super::guard::Guard;
use crate::engine::{Engine, Nanos, ProcId};

/// The largest token that a task believed in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Largest {
    token: u64,
    /// What servers named for it.
    named: u64,
    at: Nanos,
    /// When the hold was asked for that had it: a process passes holds on.
    asked: Nanos,
    of: ProcId,
}

impl Beliefs {
    /// The largest token that others than this owner have believed in.
    fn largest(&self, belief: &Belief) -> Largest {
        let forgotten = self.forgotten.get(&belief.lock);
        let of_lock = (belief.lock, None)..=(belief.lock, Some(usize::MAX));
        let others = self.tokens.range(of_lock);
        let others = others.filter(|((_, owner), _)| owner.is_none() || *owner != belief.owner);
        let others = others.map(|(_, largest)| *largest);
        let others = others.filter(|largest| forgotten.is_none_or(|at| largest.at > *at));
        others
            .max_by_key(|largest| (largest.token, largest.at))
            .unwrap_or_default()
    }

    /// The largest token that servers have named for a lock.
    fn last_named(&self, lock: usize) -> u64 {
        let of_lock = (lock, None)..=(lock, Some(usize::MAX));
        let named = self.tokens.range(of_lock).map(|(_, largest)| largest.named);
        named.max().unwrap_or(0)
    }
}

impl Judges {
    /// A server of a quorum has come back without its data. What a majority does not remember may be named again.
    pub(crate) fn is_emptied(&self, engine: &Engine) {
        let mut beliefs = self.beliefs.borrow_mut();
        for (lock, home) in self.homes.iter().enumerate() {
            let named = beliefs.last_named(lock);
            if home.remember(engine, named) < self.majority() {
                beliefs.forgotten.insert(lock, engine.now());
            }
        }
    }

    /// A task was granted a lock.
    pub(super) fn look_at_token(
        &self,
        engine: &Engine,
        beliefs: &mut Beliefs,
        belief: &Belief,
        guard: &Guard,
    ) {
        let Some(token) = guard.token() else { return };
        if self.is_quorum() && !belief.write {
            return; // Readers' tokens need not grow there.
        }
        let now = engine.now();
        let largest = beliefs.largest(belief);
        // One of several was granted long before the last of them.
        let before = if guard.is_one_of_several() {
            belief.asked
        } else {
            now
        };
        if belief.write && token <= largest.token && largest.at <= before {
            let claim = Claim {
                lock: belief.lock,
                of: largest.of,
                asked: largest.asked,
            };
            let excuses = self.excuses.borrow();
            let late = excuses.is_lost(engine, belief.claim());
            if !late && excuses.token_excuse(engine, claim).is_none() {
                let story = format!(
                    "{} got token {token}, but {} was granted at {:.6} s",
                    belief.name(),
                    largest.token,
                    seconds(largest.at)
                );
                self.object("tokens", now, story);
            }
        }
        let forgotten = beliefs.forgotten.get(&belief.lock).copied();
        let own = beliefs.tokens.entry((belief.lock, belief.owner));
        let own = own.or_default();
        if token > own.token || forgotten.is_some_and(|at| own.at <= at) {
            *own = Largest {
                token,
                named: guard.named().unwrap_or(0),
                at: now,
                asked: belief.asked,
                of: belief.of,
            };
        }
    }
}
