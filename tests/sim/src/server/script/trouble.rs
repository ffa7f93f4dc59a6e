//! What a call may fail with, in each version's words.

use mlua::{Lua, Value};

use crate::server::config::Flavour;

/// Why a call has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The command was run and answered this.
    Answer(String),
    /// The command was not run, for a reason with a code.
    Coded(&'static str),
    /// The command was not run, for a reason outside of it.
    Plain(String),
    /// The server has died.
    Death,
}

impl Trouble {
    pub(super) fn plain(words: impl Into<String>) -> Self {
        Self::Plain(words.into())
    }

    /// What the script sees of it, as text. Redis 6.2 says where in the script a command was refused.
    pub(super) fn message(&self, lua: &Lua, flavour: Flavour) -> String {
        let words = match self {
            Self::Answer(line) => return line.clone(),
            Self::Death => return "ERR the server has died".into(),
            Self::Coded(line) if flavour == Flavour::Redis62 => format!("-{line}\r\n"),
            Self::Coded(line) => return (*line).into(),
            Self::Plain(words) if flavour == Flavour::Redis62 => words.clone(),
            Self::Plain(words) => return format!("ERR {words}"),
        };
        let place = lua.inspect_stack(1, |frame| {
            let source = frame.source().source.map(std::borrow::Cow::into_owned);
            source.map(|source| format!("{source}: {}: ", line(frame.current_line())))
        });
        place.flatten().unwrap_or_default() + &words
    }

    /// The table that `redis.pcall` returns.
    pub(super) fn table(&self, lua: &Lua, flavour: Flavour) -> mlua::Result<Value> {
        let table = lua.create_table()?;
        table.raw_set("err", self.message(lua, flavour))?;
        Ok(Value::Table(table))
    }
}

/// What `redis.call` throws with this message.
pub(super) fn thrown(lua: &Lua, flavour: Flavour, message: &str) -> mlua::Result<Value> {
    if flavour == Flavour::Redis62 {
        return Ok(Value::String(lua.create_string(message)?));
    }
    let table = lua.create_table()?;
    table.raw_set("err", message)?;
    Ok(Value::Table(table))
}

/// A line's number as C prints it: -1 in what is no Lua.
pub(super) fn line(number: Option<usize>) -> i64 {
    number.map_or(-1, |number| i64::try_from(number).unwrap_or(-1))
}
