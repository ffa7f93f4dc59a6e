//! Faults of servers that have nothing to do with one another.

use std::time::Duration;

use dlock_load::{Random, SECOND};

use super::{Plan, draw::a_while};
use crate::weights;

/// How many servers have each lock, and how many of them may fail.
pub(crate) const MEMBERS: usize = 5;
const MINORITY: usize = MEMBERS / 2;

/// Some members, one beside the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members {
    /// Any number, modulo how many there are.
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Members {
    /// So few that a majority is left.
    pub(super) fn few(random: &mut Random) -> Self {
        Self {
            first: random.below(60),
            count: 1 + random.below(MINORITY),
        }
    }

    /// So many that none is.
    fn many(random: &mut Random) -> Self {
        Self {
            first: random.below(60),
            count: MEMBERS - random.below(MINORITY + 1),
        }
    }

    /// Any of them, but not all.
    pub(super) fn any(random: &mut Random) -> Self {
        Self {
            first: random.below(60),
            count: 1 + random.below(MEMBERS - 1),
        }
    }

    pub(crate) fn is_majority(self) -> bool {
        self.count > MINORITY
    }

    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> + Clone {
        (self.first..self.first + self.count).map(|number| number % MEMBERS)
    }
}

/// How members fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fall {
    /// They stand still.
    Stops,
    /// No client reaches them.
    IsCutOff,
    /// They are killed, and come back with all they had.
    Dies,
    /// They are killed, and come back with nothing: not before the longest lease is over, which is who uses them to see to.
    DiesForgetting,
}

/// How a minority fails, and for how long.
pub(super) fn few_fall(plan: &Plan, random: &mut Random, lasts: Duration) -> (Fall, Duration) {
    let fall = random.weighted(&weights::FALLS);
    let lease = Duration::from_millis(plan.longest_lease());
    match fall {
        Fall::Dies if plan.persistent => (fall, lasts),
        // What servers' clocks and ours may differ by is added.
        Fall::Dies | Fall::DiesForgetting => {
            let forgets = lasts.max(lease + lease / 50 + Duration::from_millis(200));
            (Fall::DiesForgetting, forgets)
        }
        Fall::Stops | Fall::IsCutOff => (fall, lasts),
    }
}

/// How a majority fails: none of it may forget anything, and what goes wrong elsewhere at the same time must not end it.
pub(super) fn many_fall(plan: &Plan, random: &mut Random) -> (Members, Fall, Duration) {
    let falls = [Fall::Stops, Fall::Dies];
    let fall = if plan.persistent {
        random.one(&falls)
    } else {
        Fall::Stops
    };
    // Longer than some clients try.
    let lasts = Duration::from_secs(1) + a_while(random, 5 * SECOND);
    (Members::many(random), fall, lasts)
}
