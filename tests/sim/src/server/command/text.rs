//! Commands on texts, and on their numbers.

use super::number::{count, integer};
use super::{Call, NOT_A_NUMBER, WRONG_TYPE};
use crate::server::data::{Entry, Value};
use crate::server::node::Node;
use crate::server::resp::Reply;

/// A text, if the key is there.
pub(super) fn text(node: &mut Node, key: &[u8]) -> Result<Option<Vec<u8>>, Reply> {
    match node.look_up(key).map(|entry| &entry.value) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(Value::Hash(_)) => Err(Reply::error(WRONG_TYPE)),
    }
}

pub(super) fn get(node: &mut Node, call: &Call<'_>) -> Reply {
    match text(node, call.args[1]) {
        Ok(text) => text.map_or(Reply::Null, Reply::Bulk),
        Err(wrong) => wrong,
    }
}

pub(super) fn mget(node: &mut Node, call: &Call<'_>) -> Reply {
    let one = |key: &&[u8]| {
        text(node, key)
            .ok()
            .flatten()
            .map_or(Reply::Null, Reply::Bulk)
    };
    Reply::Array(call.args[1..].iter().map(one).collect())
}

pub(super) fn strlen(node: &mut Node, call: &Call<'_>) -> Reply {
    match text(node, call.args[1]) {
        Ok(text) => count(text.map_or(0, |text| text.len())),
        Err(wrong) => wrong,
    }
}

/// Writes a text in place of another, whose expiry stays.
fn replace(node: &mut Node, key: &[u8], text: Vec<u8>) {
    let expires = node.look_up(key).and_then(|entry| entry.expires);
    node.put(
        key,
        Entry {
            value: Value::Text(text),
            expires,
        },
    );
}

pub(super) fn append(node: &mut Node, call: &Call<'_>) -> Reply {
    match text(node, call.args[1]) {
        Ok(before) => {
            let mut after = before.unwrap_or_default();
            after.extend_from_slice(call.args[2]);
            let length = count(after.len());
            replace(node, call.args[1], after);
            length
        }
        Err(wrong) => wrong,
    }
}

pub(super) fn incr(node: &mut Node, call: &Call<'_>) -> Reply {
    add(node, call, 1)
}

pub(super) fn incrby(node: &mut Node, call: &Call<'_>) -> Reply {
    match integer(call.args[2]) {
        Some(by) => add(node, call, by),
        None => Reply::error(NOT_A_NUMBER),
    }
}

fn add(node: &mut Node, call: &Call<'_>, by: i64) -> Reply {
    let before = match text(node, call.args[1]) {
        Ok(None) => Some(0),
        Ok(Some(text)) => integer(&text),
        Err(wrong) => return wrong,
    };
    let Some(before) = before else {
        return Reply::error(NOT_A_NUMBER);
    };
    let Some(sum) = before.checked_add(by) else {
        return Reply::error("ERR increment or decrement would overflow");
    };
    replace(node, call.args[1], sum.to_string().into_bytes());
    Reply::Int(sum)
}
