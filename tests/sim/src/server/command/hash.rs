//! Commands on hashes.

use super::check::wrong_arity;
use super::number::{count, integer};
use super::{Call, NOT_A_NUMBER, WRONG_TYPE};
use crate::server::config::Flavour;
use crate::server::data::{Effect, Fields, Value};
use crate::server::node::Node;
use crate::server::resp::Reply;

/// The fields of the hash under the first argument: `Ok(None)` if nothing is there.
fn fields<'n>(node: &'n mut Node, call: &Call<'_>) -> Result<Option<&'n Fields>, Reply> {
    match node.look_up(call.args[1]).map(|entry| &entry.value) {
        None => Ok(None),
        Some(Value::Hash(fields)) => Ok(Some(fields)),
        Some(Value::Text(_)) => Err(Reply::error(WRONG_TYPE)),
    }
}

fn read(node: &mut Node, call: &Call<'_>, how: impl FnOnce(Option<&Fields>) -> Reply) -> Reply {
    match fields(node, call) {
        Ok(fields) => how(fields),
        Err(wrong) => wrong,
    }
}

fn value(fields: Option<&Fields>, field: &[u8]) -> Reply {
    fields
        .and_then(|fields| fields.get(field))
        .map_or(Reply::Null, Reply::bulk)
}

pub(super) fn hget(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| value(fields, call.args[2]))
}

pub(super) fn hmget(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        Reply::Array(
            call.args[2..]
                .iter()
                .map(|field| value(fields, field))
                .collect(),
        )
    })
}

pub(super) fn hlen(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| count(fields.map_or(0, Fields::len)))
}

pub(super) fn hexists(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        Reply::Int(
            fields
                .is_some_and(|fields| fields.contains_key(call.args[2]))
                .into(),
        )
    })
}

pub(super) fn hstrlen(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        count(
            fields
                .and_then(|fields| fields.get(call.args[2]))
                .map_or(0, Vec::len),
        )
    })
}

pub(super) fn hgetall(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        let pairs = fields.into_iter().flatten();
        Reply::Map(
            pairs
                .map(|(field, value)| (Reply::bulk(field), Reply::bulk(value)))
                .collect(),
        )
    })
}

pub(super) fn hkeys(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        Reply::Array(
            fields
                .into_iter()
                .flat_map(Fields::keys)
                .map(Reply::bulk)
                .collect(),
        )
    })
}

pub(super) fn hvals(node: &mut Node, call: &Call<'_>) -> Reply {
    read(node, call, |fields| {
        Reply::Array(
            fields
                .into_iter()
                .flat_map(Fields::values)
                .map(Reply::bulk)
                .collect(),
        )
    })
}

/// `HSET` and `HMSET`.
pub(super) fn hset(node: &mut Node, call: &Call<'_>) -> Reply {
    let (args, is_old) = (call.args, call.spec.name == "hmset");
    if args.len() % 2 == 1 {
        // Redis 6.2 calls both by one name.
        let name = if node.flavour == Flavour::Redis62 {
            "hset"
        } else {
            call.spec.name
        };
        return wrong_arity(name);
    }
    let Some(fields) = node.fields_of(args[1]) else {
        return Reply::error(WRONG_TYPE);
    };
    let mut created = 0;
    for pair in args[2..].chunks_exact(2) {
        if let Some(value) = fields.get_mut(pair[0]) {
            value.clear();
            value.extend_from_slice(pair[1]);
        } else {
            fields.insert(pair[0].to_vec(), pair[1].to_vec());
            created += 1;
        }
    }
    node.note(|| {
        let changes = args[2..]
            .chunks_exact(2)
            .map(|pair| (pair[0].to_vec(), pair[1].to_vec()));
        Effect::Set(args[1].to_vec(), changes.collect())
    });
    if is_old {
        Reply::ok()
    } else {
        Reply::Int(created)
    }
}

pub(super) fn hsetnx(node: &mut Node, call: &Call<'_>) -> Reply {
    match fields(node, call) {
        Err(wrong) => wrong,
        Ok(Some(fields)) if fields.contains_key(call.args[2]) => Reply::Int(0),
        Ok(_) => hset(node, call),
    }
}

pub(super) fn hincrby(node: &mut Node, call: &Call<'_>) -> Reply {
    let args = call.args;
    let Some(by) = integer(args[3]) else {
        return Reply::error(NOT_A_NUMBER);
    };
    let before = match fields(node, call) {
        Err(wrong) => return wrong,
        Ok(fields) => match fields.and_then(|fields| fields.get(args[2])) {
            None => Some(0),
            Some(text) => integer(text),
        },
    };
    let Some(before) = before else {
        return Reply::error("ERR hash value is not an integer");
    };
    let Some(sum) = before.checked_add(by) else {
        return Reply::error("ERR increment or decrement would overflow");
    };
    let text = sum.to_string();
    let set = [args[0], args[1], args[2], text.as_bytes()];
    hset(
        node,
        &Call {
            args: &set,
            ..*call
        },
    );
    Reply::Int(sum)
}

pub(super) fn hdel(node: &mut Node, call: &Call<'_>) -> Reply {
    let args = call.args;
    match fields(node, call) {
        Err(wrong) => return wrong,
        Ok(None) => return Reply::Int(0),
        Ok(Some(_)) => {}
    }
    let Some(fields) = node.fields_of(args[1]) else {
        return Reply::error(WRONG_TYPE);
    };
    let gone = args[2..]
        .iter()
        .filter(|field| fields.shift_remove(**field).is_some())
        .count();
    let empty = fields.is_empty();
    if gone > 0 && !empty {
        node.note(|| {
            Effect::Unset(
                args[1].to_vec(),
                args[2..].iter().map(|field| field.to_vec()).collect(),
            )
        });
    }
    if empty {
        node.drop_key(args[1]);
    }
    count(gone)
}
