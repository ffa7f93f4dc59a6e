//! Between replies and Lua's values.

use mlua::{Lua, Table, Value};

use crate::server::resp::Reply;

/// A reply to a script's call. Errors are none: they are thrown.
pub(super) fn to_lua(lua: &Lua, reply: &Reply) -> mlua::Result<Value> {
    let text = |bytes: &[u8]| lua.create_string(bytes).map(Value::String);
    Ok(match reply {
        #[expect(clippy::cast_precision_loss, reason = "Lua 5.1 has no other numbers")]
        Reply::Int(number) => Value::Number(*number as f64),
        Reply::Bulk(bytes) => text(bytes)?,
        Reply::Text(words) => text(words.as_bytes())?,
        Reply::Double(number) => text(number.to_string().as_bytes())?,
        Reply::Null => Value::Boolean(false),
        Reply::Status(words) | Reply::Error(words) => {
            let table = lua.create_table()?;
            let name = if matches!(reply, Reply::Status(_)) {
                "ok"
            } else {
                "err"
            };
            table.raw_set(name, &**words)?;
            Value::Table(table)
        }
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) | Reply::Several(items) => {
            list(lua, items.len(), items.iter())?
        }
        Reply::Map(pairs) => list(
            lua,
            pairs.len() * 2,
            pairs.iter().flat_map(|(key, value)| [key, value]),
        )?,
    })
}

fn list<'r>(
    lua: &Lua,
    length: usize,
    items: impl Iterator<Item = &'r Reply>,
) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(length, 0)?;
    for (at, item) in items.enumerate() {
        table.raw_set(at + 1, to_lua(lua, item)?)?;
    }
    Ok(Value::Table(table))
}

/// What a script returns, as a reply.
pub(super) fn to_reply(value: &Value) -> mlua::Result<Reply> {
    Ok(match value {
        Value::String(text) => Reply::bulk(text.as_bytes()),
        Value::Boolean(true) => Reply::Int(1),
        Value::Integer(number) => Reply::Int(*number),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "servers cut what is behind the point"
        )]
        Value::Number(number) => Reply::Int(*number as i64),
        Value::Table(table) => of_table(table)?,
        _ => Reply::Null,
    })
}

fn of_table(table: &Table) -> mlua::Result<Reply> {
    if let Value::String(line) = table.raw_get("err")? {
        return Ok(error(&line.to_string_lossy()));
    }
    if let Value::String(line) = table.raw_get("ok")? {
        let line = line.to_string_lossy().replace(['\r', '\n'], " ");
        return Ok(Reply::Status(line.into()));
    }
    if let number @ (Value::Number(_) | Value::Integer(_)) = table.raw_get("double")? {
        return Ok(Reply::Double(number.as_f64().unwrap_or(0.0)));
    }
    if let Value::Table(map) = table.raw_get("map")? {
        let pairs = map.pairs::<Value, Value>();
        let pairs: mlua::Result<Vec<_>> = pairs
            .map(|pair| pair.and_then(|(key, value)| Ok((to_reply(&key)?, to_reply(&value)?))))
            .collect();
        return Ok(Reply::Map(pairs?));
    }
    if let Value::Table(set) = table.raw_get("set")? {
        let items = set.pairs::<Value, Value>();
        let items: mlua::Result<Vec<_>> = items.map(|pair| to_reply(&pair?.0)).collect();
        return Ok(Reply::Set(items?));
    }
    let mut items = Vec::new();
    loop {
        let item: Value = table.raw_get(items.len() + 1)?;
        if item.is_nil() {
            return Ok(Reply::Array(items));
        }
        items.push(to_reply(&item)?);
    }
}

/// An error's line: without newlines at the end, and none within.
pub(super) fn error(line: &str) -> Reply {
    Reply::error(line.trim_matches(['\r', '\n']).replace(['\r', '\n'], " "))
}
