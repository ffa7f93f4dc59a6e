//! While no majority of a quorum is there, no lock is granted, and each caller is told so in time.

use dlock_load::{MS, Patience, SECOND};
use dlock_tests::{
    history::{Call, Outcome, Seconds},
    scaled,
};

use super::{Round, Verdict};
use crate::driver::Outage;

/// What was granted before may go from task to task, or be heard of, so much later.
const PASSED_ON: u64 = SECOND;
/// How late an answer may be on a machine with much to do.
const LATE: std::time::Duration = std::time::Duration::from_secs(3);

pub(super) fn judge(round: Round<'_>, verdict: &mut Verdict) {
    for call in &round.story.calls {
        for outage in &round.known.outages {
            if granted_in(call, *outage) {
                let story = format!("{call}; no majority since {}", Seconds(outage.from));
                verdict.object("majority", story);
            }
        }
        let retries = round.plan.processes[call.of.process].retry_for * MS;
        let late = u64::try_from(scaled(LATE).as_nanos()).unwrap_or(u64::MAX);
        let Some(limit) = limit(call, &round.known.outages, retries) else {
            continue;
        };
        let due = call.asked + limit + late;
        let ended = ended(call);
        let stood_still = round
            .story
            .stalls
            .iter()
            .any(|(at, long)| at - long < ended && *at > call.asked);
        if ended > due && !stood_still {
            let story = format!("{call} ended at {}, due {}", Seconds(ended), Seconds(due));
            verdict.object("deadline", story);
        }
    }
}

fn granted_in(call: &Call, outage: Outage) -> bool {
    let granted = call.got().is_some_and(|got| got.since < outage.until);
    granted && call.asked > outage.from + PASSED_ON
}

/// When it returned. Callers that were killed, or waited until all was over, did not.
fn ended(call: &Call) -> u64 {
    match &call.outcome {
        Outcome::Unknown => 0,
        Outcome::Not { at, .. } => *at,
        Outcome::Got(got) => got.since,
    }
}

/// How long a call may take: what its caller said, or for how long it is tried again without an answer.
fn limit(call: &Call, outages: &[Outage], retries: u64) -> Option<u64> {
    match call.patience {
        Patience::For(long) => Some(long),
        Patience::Try => Some(retries),
        Patience::Forever => {
            let late = u64::try_from(scaled(LATE).as_nanos()).unwrap_or(u64::MAX);
            let lasts = |outage: &&Outage| {
                outage.from <= call.asked && call.asked + retries + late <= outage.until
            };
            outages.iter().find(lasts).map(|_| retries)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{granted_in, limit};
    use crate::driver::Outage;
    use dlock_load::{Patience, SECOND};
    use dlock_tests::history::{Call, Story, Who};

    /// A call that asked at `asked`, and was granted at `since`.
    fn call(asked: u64, since: u64) -> Call {
        let text = format!("A {asked} 0 0 w - forever\nG {since} 0 1 1\n");
        let mut story = Story::default();
        assert_eq!(story.add(&text, Who::default()), Ok(()));
        story.calls.remove(0)
    }

    #[test]
    fn nobody_who_asks_in_an_outage_is_granted_anything() {
        let outage = Outage {
            from: SECOND,
            until: 9 * SECOND,
        };
        let at = |asked, since| call(asked * SECOND, since * SECOND);
        assert!(granted_in(&at(3, 4), outage));
        assert!(!granted_in(&at(1, 4), outage));
        assert!(!granted_in(&at(3, 9), outage));
    }

    #[test]
    fn who_waits_for_ever_is_told_of_an_outage_that_is_long_enough() {
        let outage = Outage {
            from: 0,
            until: 90 * SECOND,
        };
        let mut call = call(SECOND, 2 * SECOND);
        assert_eq!(limit(&call, &[outage], SECOND), Some(SECOND));
        assert_eq!(limit(&call, &[outage], 100 * SECOND), None);
        assert_eq!(limit(&call, &[], SECOND), None);
        call.patience = Patience::For(7);
        assert_eq!(limit(&call, &[], SECOND), Some(7));
    }
}
