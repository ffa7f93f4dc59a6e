//! A writer's token is larger than those that were believed before.

use super::Judges;
use super::belief::{Belief, Beliefs, seconds};
use super::excuses::Claim;
use super::guard::Guard;
use crate::engine::{Engine, Nanos, ProcId};

/// The largest token that somebody believed in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Largest {
    token: u64,
    at: Nanos,
    /// When the hold was asked for that had it: a process passes holds on.
    asked: Nanos,
    of: ProcId,
}

impl Beliefs {
    /// The largest token that others than this owner have believed in.
    fn largest(&self, belief: &Belief) -> Largest {
        let of_lock = (belief.lock, None)..=(belief.lock, Some(usize::MAX));
        let others = self.tokens.range(of_lock);
        let others = others.filter(|((_, owner), _)| owner.is_none() || *owner != belief.owner);
        let others = others.map(|(_, largest)| *largest);
        others
            .max_by_key(|largest| (largest.token, largest.at))
            .unwrap_or_default()
    }
}

impl Judges {
    /// Somebody was granted a lock.
    pub(super) fn look_at_token(
        &self,
        engine: &Engine,
        beliefs: &mut Beliefs,
        belief: &Belief,
        guard: &Guard,
    ) {
        let Some(token) = guard.token() else { return };
        let now = engine.now();
        let largest = beliefs.largest(belief);
        // One of several was granted long before the last of them.
        let before = if matches!(guard, Guard::Several(_)) {
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
        let own = beliefs.tokens.entry((belief.lock, belief.owner));
        let own = own.or_default();
        if token > own.token {
            *own = Largest {
                token,
                at: now,
                asked: belief.asked,
                of: belief.of,
            };
        }
    }
}
