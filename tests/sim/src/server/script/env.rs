//! What scripts find around them.

use mlua::{Function, Lua, Table, Value};

use super::api;
use super::call::RUNNING;
use super::trouble::{self, line};
use crate::server::config::Flavour;

/// The name of what stands between scripts and servers; no error is said to be there.
const GLUE: &str = "@glue";

const ENVIRONMENT: &str = r#"
local redis, thrown, old = ...
local env = {redis = redis, table = table, string = string, math = math}
for _, name in ipairs({'assert', 'error', 'getmetatable', 'ipairs', 'next', 'pairs', 'rawequal', 'rawget', 'rawset',
  'select', 'setmetatable', 'tonumber', 'tostring', 'type', 'unpack', 'xpcall', '_VERSION'}) do
  env[name] = _G[name]
end
local pcall = pcall
local function caught(ok, problem, ...)
  if ok then return ok, problem, ... end
  if type(problem) == 'userdata' then problem = thrown() end
  if not old and type(problem) == 'table' and type(problem.err) == 'string' then problem = problem.err end
  return false, problem
end
env.pcall = function(...) return caught(pcall(...)) end
env._G = env
return setmetatable(env, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function() error('Attempt to modify a readonly table', 2) end,
})
"#;

/// What went wrong in a script, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) place: Option<(String, i64)>,
}

/// The globals of scripts.
pub(super) fn environment(lua: &Lua, flavour: Flavour) -> mlua::Result<Table> {
    let redis = api::table(lua, flavour)?;
    let thrown = lua.create_function(move |lua, ()| {
        let message = RUNNING.with_borrow_mut(|running| running.as_mut()?.thrown.take());
        message.map_or(Ok(Value::Nil), |message| {
            trouble::thrown(lua, flavour, &message)
        })
    })?;
    let make = lua.load(ENVIRONMENT).set_name(GLUE).into_function()?;
    let env: Table = make.call((redis, thrown, flavour == Flavour::Redis62))?;
    if flavour == Flavour::Valkey81 {
        env.raw_set("server", env.raw_get::<Value>("redis")?)?;
    }
    Ok(env)
}

/// Called where a script has failed: keeps what and where.
pub(super) fn handler(lua: &Lua, flavour: Flavour) -> mlua::Result<Function> {
    lua.create_function(move |lua, problem: Value| {
        let problem = match problem {
            Value::Error(_) => {
                let message = RUNNING.with_borrow_mut(|running| running.as_mut()?.thrown.take());
                message.map_or(Ok(Value::Nil), |message| {
                    trouble::thrown(lua, flavour, &message)
                })?
            }
            problem => problem,
        };
        if matches!(problem, Value::Table(_)) && flavour == Flavour::Redis62 {
            // Its handler of errors fails at tables, and is asked about that.
            let message =
                "err_handler_def:9: attempt to concatenate local 'err' (a table value)".into();
            let place = Some(("@err_handler_def".into(), 9));
            super::host::failed(Failure { message, place });
            return Ok(());
        }
        let message = match &problem {
            Value::String(text) if flavour == Flavour::Redis62 => text.to_string_lossy(),
            Value::String(text) => format!("ERR {}", text.to_string_lossy()),
            Value::Table(table) => match table.get("err")? {
                Value::String(text) => text.to_string_lossy(),
                _ => "(null)".into(),
            },
            other => format!("ERR {}", other.to_string()?),
        };
        let failure = Failure {
            message,
            place: place(lua),
        };
        super::host::failed(failure);
        Ok(())
    })
}

/// Where in the script: the first frame that is neither C's nor the glue's.
fn place(lua: &Lua) -> Option<(String, i64)> {
    (1..6).find_map(|level| {
        lua.inspect_stack(level, |frame| {
            let source = frame.source();
            let name = source.source?.into_owned();
            (source.what != "C" && name != GLUE).then(|| (name, line(frame.current_line())))
        })?
    })
}
