//! `SET`, with the options that somebody might use.

use super::number::integer;
use super::{Call, NOT_A_NUMBER, SYNTAX};
use crate::server::config::Flavour;
use crate::server::data::{Entry, Value};
use crate::server::node::Node;
use crate::server::resp::Reply;

/// `SET key value [NX | XX] [EX seconds | PX milliseconds]`.
pub(super) fn set(node: &mut Node, call: &Call<'_>) -> Reply {
    let (key, value) = (call.args[1], call.args[2]);
    let mut options = call.args[3..].iter();
    let (mut unless, mut only_if, mut life) = (false, false, None);
    while let Some(option) = options.next() {
        let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
        if is("NX") && !only_if {
            unless = true;
        } else if is("XX") && !unless {
            only_if = true;
        } else if (is("EX") || is("PX")) && life.is_none() && !options.as_slice().is_empty() {
            life = options
                .next()
                .map(|number| (*number, if is("EX") { 1000 } else { 1 }));
        } else {
            return Reply::error(SYNTAX);
        }
    }
    let expires = match life {
        None => None,
        Some((number, unit)) => {
            let Some(number) = integer(number) else {
                return Reply::error(NOT_A_NUMBER);
            };
            let now = i64::try_from(node.millis()).unwrap_or(i64::MAX);
            let span = number.checked_mul(unit).filter(|span| *span > 0);
            let Some(at) = span.and_then(|span| span.checked_add(now)) else {
                return Reply::error(invalid_expiry(node.flavour, call.spec.name));
            };
            Some(u64::try_from(at).unwrap_or(0))
        }
    };
    let there = node.look_up(key).is_some();
    if unless && there || only_if && !there {
        return Reply::Null;
    }
    node.put(
        key,
        Entry {
            value: Value::Text(value.to_vec()),
            expires,
        },
    );
    Reply::ok()
}

pub(super) fn invalid_expiry(flavour: Flavour, name: &str) -> String {
    match flavour {
        Flavour::Redis62 => format!("ERR invalid expire time in {name}"),
        _ => format!("ERR invalid expire time in '{name}' command"),
    }
}
