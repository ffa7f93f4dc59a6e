//! The answer to an inspection.

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
    let last = match int(last)? {
        0 => None,
        last => Some(ServerToken::said(last)?),
    };
    let mut holders = holds
        .chunks_exact(6)
        .map(|hold| {
            Some(HoldInfo {
                id: text(&hold[0])?.to_owned(),
                mode: mode(&hold[1])?,
                remaining: Duration::from_micros(int(&hold[2])?),
                token: FencingToken::first_of(ServerToken::said(int(&hold[3])?)?),
                held_for: Duration::from_micros(int(&hold[4])?),
                owner: text(&hold[5])
                    .filter(|owner| !owner.is_empty())
                    .map(str::to_owned),
            })
        })
        .collect::<Option<Vec<_>>>()?;
    holders.sort_by(|a, b| a.id.cmp(&b.id));
    Some(LockInfo {
        last_token: last.map(FencingToken::first_of),
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

fn mode(value: &Value) -> Option<Mode> {
    match text(value)? {
        "r" => Some(Mode::Read),
        "w" => Some(Mode::Write),
        _ => None,
    }
}
