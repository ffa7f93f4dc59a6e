//! What Redis loses by its nature: a grant from before such a loss may be given away again, and that is the fault's doing.

use std::collections::BTreeSet;

use dlock_tests::history::{Call, Who};

use super::Round;
use crate::driver::Loss;

/// All that was lost in a round.
#[derive(Debug)]
pub(super) struct Excuses {
    losses: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    loss: Loss,
    /// Until when nothing that was asked for counts.
    until: u64,
    /// The processes that held such a lock then, and may pass it on among their tasks until they know.
    holders: BTreeSet<(usize, Who)>,
    /// How long that takes at most.
    lease: u64,
}

impl Excuses {
    pub(super) fn of(round: Round<'_>) -> Self {
        let known = |loss: &Loss| {
            let until = loss.until.unwrap_or(u64::MAX - round.lease);
            let held = |call: &&Call| {
                loss.locks.contains(&call.lock)
                    && call.asked <= until
                    && call.got().is_some_and(|got| {
                        got.since <= until + round.lease
                            && got.ended.is_none_or(|ended| ended >= loss.from)
                    })
            };
            Known {
                until,
                holders: round
                    .story
                    .calls
                    .iter()
                    .filter(held)
                    .map(|call| (call.lock, call.of))
                    .collect(),
                lease: round.lease,
                loss: loss.clone(),
            }
        };
        Self {
            losses: round.known.losses.iter().map(known).collect(),
        }
    }

    /// Whether a lock has lost anything.
    pub(super) fn touch(&self, lock: usize) -> bool {
        self.losses
            .iter()
            .any(|known| known.loss.locks.contains(&lock))
    }

    /// What has lost one of these claims, if something has by then.
    pub(super) fn excuse(&self, claims: &[&Call], at: u64) -> Option<&'static str> {
        let lost = |known: &&Known| {
            known.loss.from <= at && claims.iter().any(|claim| known.has_lost(claim))
        };
        self.losses.iter().find(lost).map(|known| known.loss.what)
    }
}

impl Known {
    fn has_lost(&self, claim: &Call) -> bool {
        let held = self.holders.contains(&(claim.lock, claim.of));
        let until = self.until + if held { self.lease } else { 0 };
        self.loss.locks.contains(&claim.lock) && claim.asked <= until
    }
}
