//! Beliefs that conflict do not overlap, no token is given twice, and tokens grow from a writer to the next holder.

use dlock_tests::history::{Wrong, conflicts};

use super::{Round, Verdict, excuses::Excuses};

pub(super) fn judge(round: Round<'_>, excuses: &Excuses, verdict: &mut Verdict) {
    for found in conflicts(&round.story.calls, |call| round.token(call)) {
        let (first, second) = (found.first, found.second);
        let at = second.got().map_or(0, |got| got.since);
        // A wrong order is the later grant's fault, so only a loss of that grant excuses it.
        let excuse = match found.wrong {
            Wrong::Order => excuses.excuse(&[second], at),
            Wrong::Overlap | Wrong::Twice => excuses.excuse(&[first, second], at),
        };
        match (found.wrong, excuse) {
            (Wrong::Overlap, Some(why)) => *verdict.attributed.entry(why).or_default() += 1,
            (Wrong::Overlap, None) => verdict.object("exclusion", found.to_string()),
            (Wrong::Order | Wrong::Twice, None) => verdict.object("tokens", found.to_string()),
            (Wrong::Order | Wrong::Twice, Some(_)) => {}
        }
    }
}
