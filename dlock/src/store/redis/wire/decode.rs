//! Answers as replies.

use std::borrow::Cow;
use std::time::Duration;

use redis::Value;

use crate::kind::LockMode;
use crate::protocol::{HoldInfo, LockInfo, Op, Reply, WaiterInfo};
use crate::token::{FencingToken, ServerToken};

/// A release's answer that it found nothing but its hold.
const ALONE: u64 = 3;

/// Reads a script's answer; `None` if it is not one.
#[must_use]
pub fn decode(op: &Op, value: &Value) -> Option<Reply> {
    if let Some(number) = int(value) {
        return Some(match (op, number) {
            (Op::Inspect, _) => return None,
            (Op::Acquire { .. } | Op::Yield { .. }, token @ 1..) => {
                Reply::Granted(ServerToken::said(token)?)
            }
            (Op::Release { .. } | Op::Renew { .. } | Op::Abandon { .. } | Op::Raise { .. }, 1) => {
                Reply::Done
            }
            (Op::Release { .. }, 2 | ALONE) => Reply::Done,
            (Op::Renew { .. }, 2) => Reply::Wanted,
            (_, 0) => Reply::Gone,
            _ => return None,
        });
    }
    // A plain `SET`, which names no token, as none is needed.
    if matches!((op, value), (Op::Acquire { .. }, Value::Okay)) {
        return Some(Reply::Granted(ServerToken::NONE));
    }
    let Value::Array(parts) = value else {
        return None;
    };
    if matches!(op, Op::Inspect) {
        return info(parts).map(Reply::Info);
    }
    let retry = parts.get(1).and_then(int).map(Duration::from_micros);
    Some(match (op, int(parts.first()?)?) {
        (Op::Acquire { .. }, 2) => Reply::Queued {
            retry: retry?,
            last: match parts.get(2).and_then(int)? {
                0 => None,
                last => Some(ServerToken::said(last)?),
            },
            now: parts.get(3).and_then(int)?,
        },
        (Op::Acquire { .. }, 0) => Reply::Busy(retry?),
        (Op::Acquire { .. }, 3) => Reply::WouldDeadlock,
        (Op::Acquire { .. }, 4) => Reply::Gone,
        (Op::Acquire { .. }, 5) => Reply::Again,
        (Op::Acquire { .. }, 6) => Reply::TooLate(parts.get(1).and_then(int)?),
        (Op::Yield { .. } | Op::Release { .. }, 2)
        | (Op::Release { .. } | Op::Abandon { .. }, 1) => Reply::Done,
        _ => return None,
    })
}

/// Whether an answer tells of a line at a mutex: others wait, or the asker does.
pub(crate) fn tells_of_line(value: &Value) -> bool {
    let first = match value {
        Value::Array(parts) => parts.first(),
        value => Some(value),
    };
    first.and_then(int) == Some(2)
}

/// Whether a release of a read/write lock found that its hold was alone, and the queue empty.
pub(crate) fn found_alone(value: &Value) -> bool {
    int(value) == Some(ALONE)
}

/// Whether an answer is the grant of an acquire.
pub(crate) fn is_granted(op: &Op, answer: &Value) -> bool {
    matches!(op, Op::Acquire { .. }) && matches!(decode(op, answer), Some(Reply::Granted(_)))
}

/// What an answer asks the client to publish: channels and messages.
pub(crate) fn notes(value: &Value) -> Vec<(String, String)> {
    let Value::Array(parts) = value else {
        return Vec::new();
    };
    let Some(Value::Array(notes)) = parts.get(1) else {
        return Vec::new();
    };
    notes
        .chunks_exact(2)
        .filter_map(|note| Some((text(&note[0])?.to_owned(), text(&note[1])?.to_owned())))
        .collect()
}

pub(super) fn info(parts: &[Value]) -> Option<LockInfo> {
    let [
        last,
        Value::Array(holds),
        Value::Array(waiters),
        more_holders,
        more_waiters,
    ] = parts
    else {
        return None;
    };
    let last = token(last)?;
    let mut holders = holds
        .chunks_exact(6)
        .map(|hold| {
            let token = token(&hold[3])?;
            let held_for = Duration::from_micros(int(&hold[4])?);
            Some(HoldInfo {
                id: id(&hold[0])?.into_owned(),
                mode: mode(&hold[1])?,
                remaining: Duration::from_micros(int(&hold[2])?),
                token,
                // Without a token, the time was not recorded either.
                held_for: token.map(|_| held_for),
                owner: text(&hold[5])
                    .filter(|owner| !owner.is_empty())
                    .map(str::to_owned),
            })
        })
        .collect::<Option<Vec<_>>>()?;
    holders.sort_by(|a, b| a.id.cmp(&b.id));
    Some(LockInfo {
        last_token: last,
        holders,
        waiters: waiters
            .chunks_exact(4)
            .map(|waiter| {
                Some(WaiterInfo {
                    id: text(&waiter[0])?.to_owned(),
                    mode: mode(&waiter[1])?,
                    remaining: Duration::from_micros(int(&waiter[2])?),
                    waiting_for: Duration::from_micros(int(&waiter[3])?),
                })
            })
            .collect::<Option<_>>()?,
        more_holders: int(more_holders)?,
        more_waiters: int(more_waiters)?,
    })
}

/// A holder's id, which is anything that another program has put into a mutex.
fn id(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes)),
        other => text(other).map(Cow::Borrowed),
    }
}

/// The outer `None` is for what is no token, the inner for 0.
#[expect(clippy::option_option, reason = "a fault, and none")]
fn token(value: &Value) -> Option<Option<FencingToken>> {
    match int(value)? {
        0 => Some(None),
        token => Some(Some(FencingToken::first_of(ServerToken::said(token)?))),
    }
}

fn mode(value: &Value) -> Option<LockMode> {
    match text(value)? {
        "r" => Some(LockMode::Read),
        "w" => Some(LockMode::Write),
        _ => None,
    }
}

/// A number, which a script may have left as text.
pub(super) fn int(value: &Value) -> Option<u64> {
    match value {
        Value::Int(int) => u64::try_from(*int).ok(),
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

/// A string of either kind.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text),
        _ => None,
    }
}
