//! A read/write lock with owners and tokens, one step after the other.

/// What happens at one moment between a call and its return.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) called: u64,
    pub(super) returned: u64,
    pub(super) step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Acquire {
        hold: usize,
        write: bool,
        owner: Option<usize>,
        /// Nothing if it says nothing.
        token: Option<u64>,
    },
    Release {
        hold: usize,
    },
}

/// The holders, and the largest tokens of writers and of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Lock {
    holds: Vec<(usize, bool, Option<usize>)>,
    writers: u64,
    all: u64,
}

impl Lock {
    /// The lock after a step, if that can be.
    pub(super) fn after(&self, step: Step) -> Option<Self> {
        if !self.allows(step) {
            return None;
        }
        let mut next = self.clone();
        match step {
            Step::Acquire {
                hold,
                write,
                owner,
                token,
            } => {
                next.holds.push((hold, write, owner));
                // Equal holds are equal locks, in whichever order they came.
                next.holds.sort_unstable();
                let token = token.unwrap_or(0);
                next.all = next.all.max(token);
                if write {
                    next.writers = next.writers.max(token);
                }
            }
            Step::Release { hold } => next.holds.retain(|(other, _, _)| *other != hold),
        }
        Some(next)
    }

    fn allows(&self, step: Step) -> bool {
        match step {
            Step::Acquire {
                write,
                owner,
                token,
                ..
            } => {
                let conflicts = |(_, other, of): &(usize, bool, Option<usize>)| {
                    (write || *other) && (owner.is_none() || *of != owner)
                };
                let larger_than = if write { self.all } else { self.writers };
                // An owner's own holds do not exclude each other, and so their tokens come in any order.
                let larger = token.is_none_or(|token| token > larger_than);
                !self.holds.iter().any(conflicts) && (larger || owner.is_some())
            }
            Step::Release { hold } => self.holds.iter().any(|(other, _, _)| *other == hold),
        }
    }
}
