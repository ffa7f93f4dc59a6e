//! The answers of scripts.

use std::time::Duration;

use redis::Value;

use super::info::info;
use super::value::{int, text};
use crate::protocol::{Op, Reply};
use crate::token::ServerToken;

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
            (Op::Release { .. }, 2) => Reply::Done,
            (_, 0) => Reply::Gone,
            _ => return None,
        });
    }
    // A plain `SET`, which names no token, as nobody needs one.
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
