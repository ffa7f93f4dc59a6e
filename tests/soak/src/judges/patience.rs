//! No task waits on a free lock for longer than a heartbeat and a hand-over, while no fault is at work. A machine that stands
//! still is no fault of the lock's: for how long it did, processes say.

use std::collections::BTreeMap;

use dlock::FencingToken;
use dlock_tests::history::Seconds;

use super::Verdict;
use crate::driver::Sample;

/// Several heartbeats of waiters, who look by themselves every 300 ms.
const LIMIT: u64 = 2_000_000_000;
/// Looks that are further apart have stood still themselves.
const LOOKS: u64 = 50_000_000;

/// A lock that is free, though a task waits: since when, who, and the last token.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Idle {
    since: u64,
    first: String,
    token: u64,
}

pub(super) fn judge(samples: &[Sample], stalls: &[(u64, u64)], verdict: &mut Verdict) {
    let mut idle: BTreeMap<usize, Idle> = BTreeMap::new();
    let mut looked: BTreeMap<usize, u64> = BTreeMap::new();
    let mut still = stalls.to_vec();
    for sample in samples {
        let before = looked
            .insert(sample.lock, sample.answered)
            .unwrap_or(sample.asked);
        if sample.answered - before > LOOKS {
            still.push((sample.answered, sample.answered - before));
        }
        let Some(now) = state(sample) else {
            idle.remove(&sample.lock);
            continue;
        };
        let began = idle.entry(sample.lock).or_insert_with(|| now.clone());
        if (&began.first, began.token) != (&now.first, now.token) {
            *began = now;
            continue;
        }
        let waited = sample.asked.saturating_sub(began.since);
        let excused: u64 = still
            .iter()
            .filter(|(at, long)| *at > began.since && at - long < sample.answered)
            .map(|(_, long)| 3 * long)
            .sum();
        if waited > LIMIT + excused {
            let story = format!(
                "lock {} is free and {} waits from {} to {}",
                sample.lock,
                began.first,
                Seconds(began.since),
                Seconds(sample.asked)
            );
            verdict.object("patience", story);
            idle.remove(&sample.lock);
        }
    }
}

fn state(sample: &Sample) -> Option<Idle> {
    let info = &sample.info;
    let first = info.waiters.first().filter(|_| info.holder_count() == 0)?;
    Some(Idle {
        since: sample.answered,
        first: first.id.clone(),
        token: info.last_token.map_or(0, FencingToken::as_u64),
    })
}
