//! Locks as JSON. Times are in milliseconds.

use dlock::LockInfo;
use serde_json::{Value, json};

/// One lock.
pub(crate) fn lock(key: &str, info: &LockInfo) -> Value {
    let holders: Vec<Value> = info
        .holders
        .iter()
        .map(|hold| {
            json!({
                "id": hold.id,
                "name": hold.id.split('/').next(),
                "mode": hold.mode.as_str(),
                "held_ms": millis(hold.held_for),
                "lease_left_ms": millis(hold.remaining),
                "token": hold.token.as_u64(),
                "owner": hold.owner,
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
        "mode": info.mode().map(dlock::Mode::as_str),
        "last_token": info.last_token.map(dlock::FencingToken::as_u64),
        "holders": holders,
        "waiters": waiters,
    })
}

pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
