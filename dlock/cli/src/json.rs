//! Locks as JSON. Times are in milliseconds; tokens are strings, as many readers of JSON keep only 53 bits of a number.

use dlock::{FencingToken, LockInfo, LockKind};
use serde_json::{Value, json};

use crate::who;

/// One lock.
pub(crate) fn lock(key: &str, kind: LockKind, info: &LockInfo) -> Value {
    let holders: Vec<Value> = info
        .holders
        .iter()
        .map(|hold| {
            json!({
                "id": hold.id,
                "name": hold.id.split('/').next().filter(|_| !hold.is_foreign()),
                "mode": hold.mode.as_str(),
                "held_ms": hold.held_for.map(millis),
                "lease_left_ms": millis(hold.remaining),
                "token": hold.token.map(token),
                "owner": hold.owner,
                "may_linger": hold.may_linger(),
            })
        })
        .collect();
    let waiters: Vec<Value> = info
        .waiters
        .iter()
        .map(|waiter| {
            json!({
                "id": waiter.id,
                "name": waiter.id.split('/').next(),
                "mode": waiter.mode.as_str(),
                "waiting_ms": millis(waiter.waiting_for),
                "place_kept_ms": millis(waiter.remaining),
            })
        })
        .collect();
    json!({
        "key": key,
        "kind": who::kind(kind),
        "mode": info.mode().map(dlock::LockMode::as_str),
        "last_token": info.last_token.map(token),
        "holders": holders,
        "waiters": waiters,
    })
}

/// A fencing token.
pub(crate) fn token(token: FencingToken) -> String {
    token.to_string()
}

pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
