//! The Lua of a thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use mlua::{Function, Lua, LuaOptions, StdLib, Table, Value};
use rustc_hash::FxBuildHasher;

use super::convert::{error, to_reply};
use super::env::{self, Failure};
use super::source::Script;
use crate::server::config::Flavour;
use crate::server::resp::Reply;

/// How many functions are kept.
const KEPT: usize = 4096;

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
    static FAILED: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// What has been made of Lua.
struct Host {
    lua: Lua,
    xpcall: Function,
    /// For each flavour that was asked for: the globals of scripts, and what is called where they fail.
    homes: HashMap<Flavour, (Table, Function), FxBuildHasher>,
    functions: HashMap<([u8; 40], Flavour), Function, FxBuildHasher>,
}

impl Host {
    fn new() -> mlua::Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        // Otherwise `xpcall` would be one of mlua's, and errors be seen elsewhere than they happen.
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        // Little is kept from one script to the next, so that collecting is cheap, and a small heap stays in the cache.
        lua.gc_inc(150, 1000, 0);
        let no_chance = lua.create_function(|_, ()| -> mlua::Result<()> {
            Err(mlua::Error::runtime(
                "there is no randomness in scripts here",
            ))
        })?;
        lua.globals()
            .get::<Table>("math")?
            .set("random", no_chance)?;
        let xpcall = lua.globals().get("xpcall")?;
        Ok(Self {
            lua,
            xpcall,
            homes: HashMap::default(),
            functions: HashMap::default(),
        })
    }

    fn home(&mut self, flavour: Flavour) -> mlua::Result<(Table, Function)> {
        if let Some(home) = self.homes.get(&flavour) {
            return Ok(home.clone());
        }
        let home = (
            env::environment(&self.lua, flavour)?,
            env::handler(&self.lua, flavour)?,
        );
        self.homes.insert(flavour, home.clone());
        Ok(home)
    }

    fn function(&mut self, flavour: Flavour, script: &Script) -> mlua::Result<Function> {
        if let Some(function) = self.functions.get(&(script.sha, flavour)) {
            return Ok(function.clone());
        }
        let (env, _) = self.home(flavour)?;
        let chunk = self
            .lua
            .load(&script.text)
            .set_name("@user_script")
            .set_mode(mlua::ChunkMode::Text);
        let function = chunk.set_environment(env).into_function()?;
        if self.functions.len() == KEPT {
            self.functions.clear();
        }
        self.functions
            .insert((script.sha, flavour), function.clone());
        Ok(function)
    }
}

/// The parts of a run that need nothing of the host any more, which a script may want meanwhile.
struct Prepared {
    lua: Lua,
    xpcall: Function,
    function: Function,
    handler: Function,
    env: Table,
}

fn prepare(flavour: Flavour, script: &Script) -> mlua::Result<Prepared> {
    HOST.with_borrow_mut(|host| {
        let host = match host {
            Some(host) => host,
            None => host.insert(Host::new()?),
        };
        let function = host.function(flavour, script)?;
        let (env, handler) = host.home(flavour)?;
        Ok(Prepared {
            lua: host.lua.clone(),
            xpcall: host.xpcall.clone(),
            function,
            handler,
            env,
        })
    })
}

/// A script has failed there.
pub(super) fn failed(failure: Failure) {
    FAILED.set(Some(failure));
}

/// Whether a text is a script at all; otherwise what the server says.
pub(in super::super) fn compile(flavour: Flavour, script: &Arc<Script>) -> Result<(), Reply> {
    match prepare(flavour, script) {
        Ok(_) => Ok(()),
        Err(problem) => {
            let message = match &problem {
                mlua::Error::SyntaxError { message, .. } => message.clone(),
                other => other.to_string(),
            };
            Err(error(&format!(
                "ERR Error compiling script (new function): {message}"
            )))
        }
    }
}

/// Runs a script; the reply, or what went wrong.
pub(super) fn execute(
    flavour: Flavour,
    script: &Script,
    keys: &[&[u8]],
    args: &[&[u8]],
) -> Result<Reply, Failure> {
    let broken = |problem: mlua::Error| Failure {
        message: format!("ERR {problem}"),
        place: None,
    };
    let Prepared {
        lua,
        xpcall,
        function,
        handler,
        env,
    } = prepare(flavour, script).map_err(broken)?;
    let outcome = (|| {
        env.raw_set("KEYS", list(&lua, keys)?)?;
        env.raw_set("ARGV", list(&lua, args)?)?;
        let (done, value): (bool, Value) = xpcall.call((function, handler))?;
        if done {
            to_reply(&value).map(Some)
        } else {
            Ok(None)
        }
    })();
    match outcome {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(FAILED.take().unwrap_or(Failure {
            message: "ERR failed".into(),
            place: None,
        })),
        Err(problem) => Err(broken(problem)),
    }
}

fn list(lua: &Lua, words: &[&[u8]]) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(words.len(), 0)?;
    for (at, word) in words.iter().enumerate() {
        table.raw_set(at + 1, lua.create_string(word)?)?;
    }
    Ok(table)
}
