//! Operations as commands.

use std::sync::LazyLock;

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::script::source;
use crate::key::LockKey;
use crate::protocol::{
    Op, Script, encode, encode_plain, encode_without_line, wants_line, wants_script,
};

/// The SHA1 of each script, by which servers know it.
static HASHES: LazyLock<[String; Script::ALL.len()]> = LazyLock::new(|| {
    Script::ALL.map(|script| redis::Script::new(source(script)).get_hash().into())
});

/// How an operation is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a command of Redis.
    Plain,
    Script(Keys),
}

/// Which of a lock's keys a script gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    All,
    /// The lock's own; the script may answer that it needs the others.
    Own,
}

impl Form {
    /// Whether the answer is that this form cannot do; then it has done nothing.
    pub(super) fn falls_short(self, answer: &Value) -> bool {
        match self {
            Self::Plain => wants_script(answer),
            Self::Script(Keys::Own) => wants_line(answer),
            Self::Script(Keys::All) => false,
        }
    }
}

impl Keys {
    /// Whether a script can do with the lock's own key.
    pub(super) fn can_be_own(op: &Op) -> bool {
        matches!(op, Op::Acquire { .. } | Op::Release { .. })
    }
}

/// The operation as it costs least while nobody else wants the lock.
pub(super) fn uncontended(key: &LockKey, op: &Op, publish: &str) -> (Form, Cmd) {
    if let Some(plain) = encode_plain(key, op) {
        return (Form::Plain, plain);
    }
    let keys = if Keys::can_be_own(op) {
        Keys::Own
    } else {
        Keys::All
    };
    (Form::Script(keys), evalsha(keys, key, op, publish))
}

/// `EVALSHA` of an operation.
pub(super) fn evalsha(keys: Keys, key: &LockKey, op: &Op, publish: &str) -> Cmd {
    let script = &HASHES[Script::of(op) as usize];
    compose("EVALSHA", script, keys, key, op, publish)
}

/// `EVAL` of an operation, for a server that does not have the script.
pub(super) fn eval(keys: Keys, key: &LockKey, op: &Op, publish: &str) -> Cmd {
    compose("EVAL", source(Script::of(op)), keys, key, op, publish)
}

fn compose(command: &str, script: &str, keys: Keys, key: &LockKey, op: &Op, publish: &str) -> Cmd {
    // The keys and the channel repeat the name; the rest is short.
    let size = script.len() + 5 * (key.as_str().len() + 8) + 160;
    let mut cmd = Cmd::with_capacity(12, size);
    cmd.write_arg(command.as_bytes());
    cmd.write_arg(script.as_bytes());
    match keys {
        Keys::All => encode(&mut cmd, key, op, publish),
        Keys::Own => encode_without_line(&mut cmd, key, op, publish),
    }
    cmd
}

/// Loads every script.
pub(super) fn add_loads(pipeline: &mut Pipeline) {
    for script in Script::ALL {
        pipeline.cmd("SCRIPT").arg("LOAD").arg(source(script));
    }
}
