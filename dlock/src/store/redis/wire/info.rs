//! The answer to an inspection.

use std::borrow::Cow;
use std::time::Duration;

use redis::Value;

use super::value::{int, text};
use crate::mode::Mode;
use crate::protocol::{HoldInfo, LockInfo, WaiterInfo};
use crate::token::{FencingToken, ServerToken};

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
                // Where there is no token, nobody has noted the time either.
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

fn mode(value: &Value) -> Option<Mode> {
    match text(value)? {
        "r" => Some(Mode::Read),
        "w" => Some(Mode::Write),
        _ => None,
    }
}
