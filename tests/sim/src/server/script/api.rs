//! What scripts find under `redis`.

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::call::RUNNING;
use super::convert::to_lua;
use super::numeral::numeral;
use super::trouble::Trouble;
use crate::server::config::Flavour;
use crate::server::resp::Reply;

/// The table `redis`.
pub(super) fn table(lua: &Lua, flavour: Flavour) -> mlua::Result<Table> {
    let redis = lua.create_table()?;
    redis.raw_set("call", call(lua, flavour, true)?)?;
    redis.raw_set("pcall", call(lua, flavour, false)?)?;
    redis.raw_set("error_reply", single(lua, flavour, "err")?)?;
    redis.raw_set("status_reply", single(lua, flavour, "ok")?)?;
    let sha1 = |_: &Lua, text: mlua::String| {
        Ok(sha1_smol::Sha1::from(text.as_bytes()).digest().to_string())
    };
    redis.raw_set("sha1hex", lua.create_function(sha1)?)?;
    // Messages of a cluster do not go by the replication that this is about.
    redis.raw_set("set_repl", lua.create_function(|_, _: i64| Ok(()))?)?;
    for (what, name) in [(0, "REPL_NONE"), (3, "REPL_ALL")] {
        redis.raw_set(name, what)?;
    }
    redis.raw_set("log", lua.create_function(|_, _: MultiValue| Ok(()))?)?;
    for (level, name) in ["LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"]
        .iter()
        .enumerate()
    {
        redis.raw_set(*name, level)?;
    }
    Ok(redis)
}

fn call(lua: &Lua, flavour: Flavour, throws: bool) -> mlua::Result<Function> {
    lua.create_function(
        move |lua, args: MultiValue| match dispatch(flavour, &args) {
            Ok(reply) => to_lua(lua, &reply),
            Err(trouble) if throws => {
                throw(trouble.message(lua, flavour));
                Err(mlua::Error::runtime("thrown"))
            }
            Err(trouble) => trouble.table(lua, flavour),
        },
    )
}

/// Keeps what is thrown where the handler of errors finds it.
fn throw(message: String) {
    RUNNING.with_borrow_mut(|running| {
        if let Some(running) = running {
            running.thrown = Some(message);
        }
    });
}

fn dispatch(flavour: Flavour, args: &MultiValue) -> Result<Reply, Trouble> {
    if args.is_empty() {
        return Err(Trouble::plain(match flavour {
            Flavour::Redis62 => "Please specify at least one argument for redis.call()",
            Flavour::Valkey81 => "Please specify at least one argument for this call",
            _ => "Please specify at least one argument for this redis lib call",
        }));
    }
    let mut numerals = Vec::new();
    for arg in args {
        match arg {
            Value::Number(number) => numerals.push(numeral(*number, flavour)),
            #[expect(
                clippy::cast_precision_loss,
                reason = "it is one of Lua's, which are floating"
            )]
            Value::Integer(number) => numerals.push(numeral(*number as f64, flavour)),
            Value::String(_) => {}
            _ => {
                return Err(Trouble::plain(match flavour {
                    Flavour::Redis62 => "Lua redis() command arguments must be strings or integers",
                    Flavour::Valkey81 => "Command arguments must be strings or integers",
                    _ => "Lua redis lib command arguments must be strings or integers",
                }));
            }
        }
    }
    let texts: Vec<_> = args
        .iter()
        .filter_map(Value::as_string)
        .map(mlua::String::as_bytes)
        .collect();
    let (mut texts, mut numerals) = (texts.iter(), numerals.iter());
    let words: Vec<&[u8]> = args
        .iter()
        .filter_map(|arg| match arg {
            Value::String(_) => texts.next().map(|text| &**text),
            _ => numerals.next().map(String::as_bytes),
        })
        .collect();
    RUNNING.with_borrow_mut(|running| match running {
        Some(running) => running.call(&words),
        None => Err(Trouble::Death),
    })
}

/// `redis.error_reply` and `redis.status_reply`.
fn single(lua: &Lua, flavour: Flavour, field: &'static str) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        let (Some(Value::String(line)), 1) = (args.front(), args.len()) else {
            return Trouble::plain("wrong number or type of arguments").table(lua, flavour);
        };
        let table = lua.create_table()?;
        if field == "ok" || flavour == Flavour::Redis62 {
            table.raw_set(field, line)?;
        } else {
            // Since Redis 7 an error has a code.
            let line = line.to_string_lossy();
            let line = line
                .strip_prefix('-')
                .unwrap_or(&line)
                .trim_matches(['\r', '\n']);
            let code = if line.contains(' ') { "" } else { "ERR " };
            table.raw_set(field, format!("{code}{line}"))?;
        }
        Ok(Value::Table(table))
    })
}
