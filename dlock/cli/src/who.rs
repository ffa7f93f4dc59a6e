//! The holders and the waiters of a lock, in few words.

use std::time::Duration;

use dlock::{HoldInfo, LockInfo, LockKind};

use crate::duration::short;
use crate::hidden::plain;

/// The name of the client that an acquisition belongs to.
pub(crate) fn name(id: &str) -> String {
    plain(id.split('/').next().unwrap_or_default()).into_owned()
}

/// The owner of a hold, or the client.
pub(crate) fn holder(hold: &HoldInfo) -> String {
    if hold.is_foreign() {
        return "another program".to_owned();
    }
    let owner = hold.owner.as_deref();
    owner.map_or_else(|| name(&hold.id), |owner| plain(owner).into_owned())
}

/// How it is held, and whether the client may keep it although none of its tasks uses it.
pub(crate) fn mode(hold: &HoldInfo) -> String {
    if hold.may_linger() {
        format!("{}, may linger", hold.mode)
    } else {
        hold.mode.to_string()
    }
}

/// The hold that has lasted longest.
pub(crate) fn longest(info: &LockInfo) -> Option<&HoldInfo> {
    info.holders.iter().max_by_key(|hold| hold.held_for)
}

/// The client that has held the lock for longest, and how many more hold it.
pub(crate) fn held_by(info: &LockInfo) -> String {
    let Some(hold) = longest(info) else {
        return String::new();
    };
    match info.holder_count() {
        1 => holder(hold),
        n => format!("{} +{}", holder(hold), n - 1),
    }
}

/// How long that has been.
pub(crate) fn held_for(info: &LockInfo) -> String {
    longest(info).map_or_else(String::new, |hold| time(hold.held_for))
}

/// The rest of the lease of the client that has held it for longest.
pub(crate) fn lease_left(info: &LockInfo) -> String {
    longest(info).map_or_else(String::new, |hold| short(hold.remaining))
}

/// The longest wait of the waiters that are listed.
pub(crate) fn longest_wait(info: &LockInfo) -> String {
    let longest: Option<Duration> = info.waiters.iter().map(|waiter| waiter.waiting_for).max();
    longest.map_or_else(String::new, short)
}

/// A time, if it is known.
pub(crate) fn time(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), short)
}

/// The token of a hold, if it has one that is known.
pub(crate) fn token(hold: &HoldInfo) -> String {
    hold.token
        .map_or_else(|| "-".to_owned(), |token| token.to_string())
}

/// Which kind of lock it is, in one word.
pub(crate) fn kind(kind: LockKind) -> &'static str {
    if kind.is_mutex() { "mutex" } else { "rw" }
}

/// How a lock is held.
pub(crate) fn state(info: &LockInfo, is_mutex: bool) -> &'static str {
    match info.mode() {
        None => "free",
        Some(_) if is_mutex => "held",
        Some(dlock::LockMode::Read) => "held for reading",
        Some(dlock::LockMode::Write) => "held for writing",
    }
}
