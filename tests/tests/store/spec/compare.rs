//! What may differ between a script and the specification, and what may not.

use std::collections::BTreeSet;
use std::time::Duration;

use dlock::__internals::{Message, Op, Reply, ServerToken};
use dlock::{LockInfo, LockKind, LockMode};
use dlock_tests::{Line, Record, Told};

use crate::spec::request::Request;

/// Whether a script's answer is as good as the specified one. `before` is the record it has found, `now` the
/// lock's time.
pub(crate) fn is_as_specified(
    request: &Request,
    specified: &Reply,
    answered: &Reply,
    before: &Record,
    now: u64,
) -> bool {
    // When to look again is a hint: scripts know of a hold that is in the way, and not of the one that ends last.
    let sooner = |retry: &Duration, most: &Duration| !retry.is_zero() && retry <= most;
    match (&request.op, specified, answered) {
        // The token of a hold that needs none does not matter.
        (_, Reply::Granted(_), Reply::Granted(_)) if request.kind == LockKind::Mutex => true,
        (_, Reply::Busy(most), Reply::Busy(retry)) => sooner(retry, most),
        (
            _,
            Reply::Queued {
                retry: most,
                last,
                now,
            },
            Reply::Queued {
                retry,
                last: answered_last,
                now: answered_now,
            },
        ) => sooner(retry, most) && last == answered_last && now == answered_now,
        // The only hold is given back without a look at the clock, as by a plain command: no other client could have
        // got the lock until then.
        (Op::Release { hold, .. }, Reply::Gone, Reply::Done) => {
            let only = before.sole.as_deref() == Some(&hold.to_string());
            only && before.live(now).next().is_none()
        }
        // A place that has ended is still recorded: that others wait is a hint, too.
        (Op::Renew { .. }, Reply::Done, Reply::Wanted) => {
            let lines = [&before.writers, &before.readers];
            lines.iter().any(|line| line.numbers.is_some())
        }
        _ => specified == answered,
    }
}

/// Whether the script has notified the right waiters, and none of a grant that is not recorded.
pub(crate) fn tells_as_specified(
    channels: &str,
    specified: &[(Message, bool)],
    told: &[Told],
) -> Result<(), String> {
    for told in told {
        let client = told.message.hold().client().as_str();
        let channel = format!("{channels}{client}");
        if told.channel != channel {
            return Err(format!("a message by {}, not {channel}", told.channel));
        }
        if let (Message::Granted { token, .. }, false) =
            (&told.message, channel.starts_with("note"))
        {
            let mut words = told.record.split(' ').skip(2);
            if words.next() != Some(&token.to_string()) {
                return Err(format!("{told:?} is not recorded"));
            }
        }
    }
    let all: Vec<_> = told
        .iter()
        .map(|told| (told.message.clone(), told.heard))
        .collect();
    if by_order(&all) == by_order(specified) {
        Ok(())
    } else {
        Err(format!("tells {all:?}, specified is {specified:?}"))
    }
}

/// The messages to waiters, in their order, and those to holders that linger, which have none.
fn by_order(messages: &[(Message, bool)]) -> (Vec<String>, BTreeSet<String>) {
    let lingers =
        |(message, _): &(Message, bool)| matches!(message, Message::Look(hold) if hold.lingers());
    let shown = |message: &(Message, bool)| format!("{message:?}");
    let in_order = messages.iter().filter(|message| !lingers(message));
    let others = messages.iter().filter(|message| lingers(message));
    (in_order.map(shown).collect(), others.map(shown).collect())
}

/// Whether a record says what the specification would show.
pub(crate) fn says_the_same(record: &Record, info: &LockInfo, now: u64) -> Result<(), String> {
    let last = info
        .last_token
        .map_or(0, |last| ServerToken::behind(last).as_u64());
    same("the last token", &record.last, &last)?;
    let holds: Vec<_> = record
        .live(now)
        .map(|(id, hold)| {
            let owner = Some(hold.owner.clone()).filter(|owner| !owner.is_empty());
            (id.clone(), hold.mode, hold.deadline, hold.token, owner)
        })
        .collect();
    let specified: Vec<_> = info
        .holders
        .iter()
        .map(|hold| {
            let deadline = now + micros(hold.remaining);
            let token = hold
                .token
                .map_or(0, |token| ServerToken::behind(token).as_u64());
            (
                hold.id.clone(),
                hold.mode,
                deadline,
                token,
                hold.owner.clone(),
            )
        })
        .collect();
    same("the holds", &holds, &specified)?;
    let waiting = |line: &Line, mode| {
        let places = line.places.values().filter(|place| place.deadline > now);
        let places =
            places.map(|place| (place.id.clone(), mode, place.deadline, place.since.min(now)));
        places.collect::<Vec<_>>()
    };
    let mut waiters = waiting(&record.writers, LockMode::Write);
    waiters.extend(waiting(&record.readers, LockMode::Read));
    let specified: Vec<_> = info
        .waiters
        .iter()
        .map(|waiter| {
            (
                waiter.id.clone(),
                waiter.mode,
                now + micros(waiter.remaining),
                now - micros(waiter.waiting_for),
            )
        })
        .collect();
    same("the line", &waiters, &specified)
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    recorded: &T,
    specified: &T,
) -> Result<(), String> {
    if recorded == specified {
        Ok(())
    } else {
        Err(format!(
            "{what}: recorded {recorded:?}, specified {specified:?}"
        ))
    }
}

pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
}
