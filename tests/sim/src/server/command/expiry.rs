//! Commands about when keys expire.

use super::number::integer;
use super::options::invalid_expiry;
use super::{Call, NOT_A_NUMBER};
use crate::server::node::{Due, Node};
use crate::server::resp::Reply;

pub(super) fn pexpire(node: &mut Node, call: &Call<'_>) -> Reply {
    set(node, call, 1, true)
}

pub(super) fn pexpireat(node: &mut Node, call: &Call<'_>) -> Reply {
    set(node, call, 1, false)
}

pub(super) fn expire(node: &mut Node, call: &Call<'_>) -> Reply {
    set(node, call, 1000, true)
}

pub(super) fn expireat(node: &mut Node, call: &Call<'_>) -> Reply {
    set(node, call, 1000, false)
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the options of the command"
)]
struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    fn read(options: &[&[u8]]) -> Result<Self, String> {
        let mut read = Self::default();
        for option in options {
            match &*option.to_ascii_uppercase() {
                b"NX" => read.nx = true,
                b"XX" => read.xx = true,
                b"GT" => read.gt = true,
                b"LT" => read.lt = true,
                _ => {
                    return Err(format!(
                        "ERR Unsupported option {}",
                        String::from_utf8_lossy(option)
                    ));
                }
            }
        }
        if read.nx && (read.xx || read.gt || read.lt) {
            return Err(
                "ERR NX and XX, GT or LT options at the same time are not compatible".into(),
            );
        }
        if read.gt && read.lt {
            return Err("ERR GT and LT options at the same time are not compatible".into());
        }
        Ok(read)
    }

    fn allow(&self, current: Option<i64>, wanted: i64) -> bool {
        !(self.nx && current.is_some()
            || self.xx && current.is_none()
            || self.gt && current.is_none_or(|current| wanted <= current)
            || self.lt && current.is_some_and(|current| wanted >= current))
    }
}

fn set(node: &mut Node, call: &Call<'_>, unit: i64, from_now: bool) -> Reply {
    let key = call.args[1];
    let conditions = match Conditions::read(&call.args[3..]) {
        Ok(conditions) => conditions,
        Err(line) => return Reply::error(line),
    };
    let Some(number) = integer(call.args[2]) else {
        return Reply::error(NOT_A_NUMBER);
    };
    let now = i64::try_from(node.millis()).unwrap_or(i64::MAX);
    let base = if from_now { now } else { 0 };
    let Some(at) = number
        .checked_mul(unit)
        .and_then(|span| span.checked_add(base))
    else {
        return Reply::error(invalid_expiry(node.flavour, call.spec.name));
    };
    let Some(entry) = node.look_up(key) else {
        return Reply::Int(0);
    };
    let current = entry
        .expires
        .map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    if !conditions.allow(current, at) {
        return Reply::Int(0);
    }
    if at <= now && !node.is_replica() {
        node.drop_key(key);
    } else {
        let millis = |number: i64| u64::try_from(number).unwrap_or(0);
        let span = from_now.then(|| millis(at - now));
        let at = millis(at);
        node.expire_at(key, Some(Due { at, span }));
    }
    Reply::Int(1)
}

pub(super) fn persist(node: &mut Node, call: &Call<'_>) -> Reply {
    let key = call.args[1];
    let expires = node
        .look_up(key)
        .is_some_and(|entry| entry.expires.is_some());
    if expires {
        node.expire_at(key, None);
    }
    Reply::Int(expires.into())
}

/// When a key expires: -2 if it is not there, -1 if never.
fn when(node: &mut Node, call: &Call<'_>) -> i64 {
    match node.look_up(call.args[1]) {
        None => -2,
        Some(entry) => entry
            .expires
            .map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)),
    }
}

fn left(node: &mut Node, call: &Call<'_>) -> i64 {
    let now = i64::try_from(node.millis()).unwrap_or(i64::MAX);
    match when(node, call) {
        never @ ..0 => never,
        at => (at - now).max(0),
    }
}

pub(super) fn pttl(node: &mut Node, call: &Call<'_>) -> Reply {
    Reply::Int(left(node, call))
}

pub(super) fn ttl(node: &mut Node, call: &Call<'_>) -> Reply {
    Reply::Int(match left(node, call) {
        never @ ..0 => never,
        millis => (millis + 500) / 1000,
    })
}

pub(super) fn pexpiretime(node: &mut Node, call: &Call<'_>) -> Reply {
    Reply::Int(when(node, call))
}
