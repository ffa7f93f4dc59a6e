//! What locks record of processes that live, against what those say, while nothing is wrong:
//!
//! * no hold stays of which its process knows nothing, and no place;
//! * while another process waits, a process passes a hold on among its tasks for a slice only.

use std::collections::BTreeMap;

use dlock::{HoldInfo, LockInfo, LockMode};
use dlock_tests::history::{Call, Outcome, Seconds, Who};

use super::{Round, Verdict};
use crate::{driver::Sample, plan::Plan};

/// The record of a call may be there so long before its caller knows, and after its caller has released it.
const GRACE: u64 = 1_000_000_000;
/// Much more than the slice that a process has.
const SLICE: u64 = 500_000_000;
/// Looks that are further apart have stood still themselves.
const LOOKS: u64 = 100_000_000;

/// The times of a call.
#[derive(Debug, Clone, Copy)]
struct Span {
    asked: u64,
    since: Option<u64>,
    until: u64,
    /// It writes, and passes no waiter.
    in_line: bool,
}

/// What processes say.
type Said = BTreeMap<(usize, Who), Vec<Span>>;
/// Since when ids are recorded without a break: as holds, and as places in the line.
#[derive(Debug, Default)]
struct Seen {
    holds: BTreeMap<String, u64>,
    places: BTreeMap<String, u64>,
}

pub(super) fn judge(round: Round<'_>, samples: &[Sample], verdict: &mut Verdict) {
    let said = said(&round.story.calls);
    let mut seen: BTreeMap<usize, (u64, Seen)> = BTreeMap::new();
    for sample in samples {
        let (answered, recorded) = seen.entry(sample.lock).or_default();
        let stalls = &round.story.stalls;
        let before = std::mem::replace(answered, sample.answered);
        let stood_still = sample.answered - before > LOOKS
            || stalls.iter().any(|(at, long)| {
                *at > before.saturating_sub(*long) && at - long < sample.answered
            });
        if stood_still {
            *recorded = Seen::default();
        }
        let LockInfo {
            holders, waiters, ..
        } = &sample.info;
        let holders = holders.iter().map(|hold| &hold.id);
        note(&mut recorded.holds, holders, sample.answered);
        let waiters = waiters.iter().map(|waiter| &waiter.id);
        note(&mut recorded.places, waiters, sample.answered);
        for (promise, story) in wrong(round.plan, &said, recorded, sample) {
            verdict.object(promise, story);
        }
    }
}

/// What each process says of each lock, for as long as it lives.
fn said(calls: &[Call]) -> Said {
    let mut said = Said::new();
    for call in calls {
        let (since, until) = match &call.outcome {
            Outcome::Unknown => (None, u64::MAX),
            Outcome::Not { at, .. } => (None, *at),
            Outcome::Got(got) => {
                let released = got.released.as_ref().map(|(at, _)| *at);
                let until = released.max(got.ended).unwrap_or(u64::MAX);
                // One of several was granted before the last of them.
                let since = if call.several { call.asked } else { got.since };
                (Some(since), until)
            }
        };
        said.entry((call.lock, call.of)).or_default().push(Span {
            asked: call.asked,
            since,
            until,
            in_line: call.write && call.owner.is_none() && !call.several,
        });
    }
    said
}

/// Keeps what is still there, and adds what is new.
fn note<'i>(recorded: &mut BTreeMap<String, u64>, ids: impl Iterator<Item = &'i String>, now: u64) {
    let ids: Vec<&String> = ids.collect();
    recorded.retain(|id, _| ids.contains(&id));
    for id in ids {
        recorded.entry(id.clone()).or_insert(now);
    }
}

/// Which promises are broken, and how. What has been told is recorded as new.
fn wrong(
    plan: &Plan,
    said: &Said,
    recorded: &mut Seen,
    sample: &Sample,
) -> Vec<(&'static str, String)> {
    let now = sample.asked;
    let spans = |id: &str| {
        let spans = said.get(&(sample.lock, who(id)?))?;
        // A process that has died meanwhile says nothing.
        let lives = spans.iter().any(|span| span.asked > now + GRACE);
        lives.then_some(spans)
    };
    let tell = |id: &str, since: u64, what: &str| {
        let (from, to) = (Seconds(since), Seconds(now));
        format!("lock {}: {id}, from {from} to {to}: {what}", sample.lock)
    };
    let mut found = Vec::new();
    for hold in &sample.info.holders {
        let since = recorded.holds[&hold.id];
        let Some(spans) = spans(&hold.id) else {
            continue;
        };
        let kept = GRACE + lingers(plan, hold);
        let is_had = |span: &Span| {
            span.since.is_some_and(|since| since <= now) && span.until.saturating_add(kept) >= now
        };
        if since + GRACE < now && !spans.iter().any(is_had) {
            let story = tell(&hold.id, since, "its process has no such hold");
            found.push(("leftovers", story));
            recorded.holds.insert(hold.id.clone(), now);
        } else if let Some(other) = kept_waiting(hold, sample, recorded, spans) {
            let what = format!("it goes from task to task, and {other} waits");
            found.push(("order", tell(&hold.id, since, &what)));
            recorded.holds.insert(hold.id.clone(), now);
        }
    }
    for waiter in &sample.info.waiters {
        let since = recorded.places[&waiter.id];
        let Some(spans) = spans(&waiter.id) else {
            continue;
        };
        let asks = |span: &Span| span.asked <= now && span.until.saturating_add(GRACE) >= now;
        if since + GRACE < now && !spans.iter().any(asks) {
            let story = tell(&waiter.id, since, "its process does not ask");
            found.push(("leftovers", story));
            recorded.places.insert(waiter.id.clone(), now);
        }
    }
    found
}

/// A task of another process that has waited for long while the lock went from task to task.
fn kept_waiting<'s>(
    hold: &HoldInfo,
    sample: &'s Sample,
    recorded: &Seen,
    spans: &[Span],
) -> Option<&'s str> {
    if hold.mode != LockMode::Write {
        return None;
    }
    let mut others = sample.info.waiters.iter();
    let other = others.find(|waiter| {
        let from = recorded.places[&waiter.id].max(recorded.holds[&hold.id]);
        let passed_on = |span: &Span| {
            let since = span.since.filter(|_| span.in_line);
            since.is_some_and(|since| since > from.saturating_add(SLICE) && since < sample.asked)
        };
        who(&waiter.id) != who(&hold.id) && spans.iter().any(passed_on)
    })?;
    Some(&other.id)
}

/// How long a process keeps a hold after its last task.
fn lingers(plan: &Plan, hold: &HoldInfo) -> u64 {
    let process = who(&hold.id).filter(|_| hold.may_linger());
    process.map_or(0, |who| plan.processes[who.process].linger * 1_000_000)
}

/// Whose an id is: those of workers begin with their name.
fn who(id: &str) -> Option<Who> {
    let name = id.split('/').next()?.strip_prefix('p')?;
    let (process, life) = name.split_once('-')?;
    Some(Who {
        process: process.parse().ok()?,
        life: life.parse().ok()?,
    })
}
