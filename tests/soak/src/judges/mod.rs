//! The checkers of histories, each of which objects to one kind of mistake. Each judge knows one promise, and looks at what is
//! known of a round when it is over: none depends on how fast the machine is.

mod exclusion;
mod excuses;
mod known;
mod leftovers;
mod linear;
mod order;
mod outage;
mod patience;

use std::collections::BTreeMap;

use dlock_tests::history::{Call, Story};

use self::excuses::Excuses;
pub(crate) use self::leftovers::leftovers;
use crate::{
    driver::{Known, Sample, Updates},
    plan::{Kind, LockKind, Plan},
};

/// A promise that was not kept.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// Which one, in a word.
    pub(crate) promise: &'static str,
    /// What happened.
    pub(crate) story: String,
}

/// What judges say of a round.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) violations: Vec<Violation>,
    /// Overlaps that were put down to what a fault had lost, by what that was.
    pub(crate) attributed: BTreeMap<&'static str, u64>,
    /// Calls whose order was searched for, and histories for which that took too long.
    pub(crate) ordered: u64,
    pub(crate) undecided: u64,
}

impl Verdict {
    pub(crate) fn object(&mut self, promise: &'static str, story: String) {
        self.violations.push(Violation { promise, story });
    }
}

/// The facts and histories that are checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) locks: usize,
    /// The longest lease (ns).
    pub(crate) lease: u64,
    pub(crate) story: &'r Story,
    pub(crate) known: &'r Known,
    pub(crate) updates: &'r Updates,
    /// What was seen while nothing was wrong, in stretches.
    pub(crate) calm: &'r [Vec<Sample>],
}

impl Round<'_> {
    /// A call's token, if it has one that says anything about the order: readers' of a quorum do not.
    fn token(&self, call: &Call) -> Option<u64> {
        let says = call.write || self.plan.draw.lock != LockKind::Quorum;
        call.got()?.token.filter(|_| says)
    }
}

/// Asks all judges.
pub(crate) fn judge(round: Round<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let excuses = Excuses::of(round);
    exclusion::judge(round, &excuses, &mut verdict);
    for story in &round.updates.stories {
        verdict.object("fence", story.clone());
    }
    if round.plan.draw.kind == Kind::Dlock {
        outage::judge(round, &mut verdict);
        linear::judge(round, &excuses, &mut verdict);
        for samples in round.calm {
            order::judge(samples, &round.story.stalls, &mut verdict);
            patience::judge(samples, &round.story.stalls, &mut verdict);
            known::judge(round, samples, &mut verdict);
        }
    }
    verdict
}

/// Whether a checker objects before the round is over, once all events of the other locks are known. What
/// processes have yet to write down only adds to that.
pub(crate) fn object_already(round: Round<'_>) -> bool {
    let mut verdict = Verdict::default();
    let excuses = Excuses::of(round);
    exclusion::judge(round, &excuses, &mut verdict);
    if round.plan.draw.kind != Kind::Dlock {
        return !verdict.violations.is_empty() && round.updates.lost_without_fence > 0;
    }
    outage::judge(round, &mut verdict);
    for samples in round.calm {
        order::judge(samples, &round.story.stalls, &mut verdict);
        patience::judge(samples, &round.story.stalls, &mut verdict);
        known::judge(round, samples, &mut verdict);
    }
    !verdict.violations.is_empty() || !round.updates.stories.is_empty()
}
