//! Operations as commands and scripts.

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::arguments::{Publishing, Terms, argument};
use super::decode::int;
use super::dialect::dialect;
use super::script::{Script, hash, source};
use crate::key::LockKey;
use crate::protocol::Op;

/// How an operation is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a command of Redis.
    Plain,
    /// As a script that the server knows.
    Hash(Script),
    /// As the text of a script.
    Text(Script),
}

impl Form {
    /// The form that costs least while no other client wants the lock.
    pub(crate) fn uncontended(key: &LockKey, op: &Op) -> Self {
        if dialect(key.kind()).has_plain(op) {
            return Self::Plain;
        }
        dialect(key.kind())
            .brief(op)
            .map_or_else(|| Self::contended(key, op), Self::Hash)
    }

    /// The form that does for all cases.
    pub(crate) fn contended(key: &LockKey, op: &Op) -> Self {
        Self::Hash(dialect(key.kind()).script(op))
    }

    /// For a server that does not know the script.
    pub(crate) fn as_text(self) -> Self {
        match self {
            Self::Hash(script) => Self::Text(script),
            form => form,
        }
    }

    /// The script, if it is one.
    pub(crate) fn script(self) -> Option<Script> {
        match self {
            Self::Plain => None,
            Self::Hash(script) | Self::Text(script) => Some(script),
        }
    }

    /// Whether it only works for a lock that no other client wants.
    pub(crate) fn is_brief(self) -> bool {
        self.script().is_none_or(Script::is_brief)
    }

    /// Whether the answer is that this form cannot do; then it has done nothing.
    pub(crate) fn falls_short(self, answer: &Value) -> bool {
        self.is_brief() && (int(answer) == Some(0) || *answer == Value::Nil)
    }
}

/// The command, which is valid until then (see [`encode`]).
pub(crate) fn command(
    form: Form,
    key: &LockKey,
    keys: Keys,
    op: &Op,
    publishing: &str,
    valid_until: u64,
) -> Cmd {
    if form == Form::Plain
        && let Some(plain) = encode_plain(key, op)
    {
        return plain;
    }
    let script = form
        .script()
        .unwrap_or_else(|| dialect(key.kind()).script(op));
    let (name, text) = match form {
        Form::Plain | Form::Hash(_) => ("EVALSHA", hash(script)),
        Form::Text(_) => ("EVAL", source(script)),
    };
    let mut cmd = Cmd::with_capacity(9, text.len() + key.as_str().len() + 160);
    cmd.write_arg(name.as_bytes());
    cmd.write_arg(text.as_bytes());
    if script.is_brief() {
        encode_brief(&mut cmd, key, op);
    } else {
        encode(&mut cmd, key, keys, op, publishing, valid_until);
    }
    cmd
}

/// A command that is sent right before a request, so that no other request comes in between.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Preface {
    /// Has this client hear of the request's outcome after others.
    Ping,
    /// Has a node that a slot is moving to take the request.
    Asking,
}

impl Preface {
    /// Both, to be written in one go.
    pub(crate) fn before(self, request: Cmd) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(2);
        pipeline.cmd(match self {
            Self::Ping => "PING",
            Self::Asking => "ASKING",
        });
        pipeline.add_command(request);
        pipeline
    }
}

/// Which keys of a lock a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// All that the operation is about.
    All,
    /// Of a mutex only the string, without the hash beside it: where the two are at different nodes.
    First,
}

/// Appends what follows the script in `EVAL` and `EVALSHA`: the keys and the arguments.
///
/// `publish` says how waiters are woken: `S` by `SPUBLISH`, `P` by `PUBLISH`, `L` by `PUBLISH` in a cluster, where the
/// number of subscribers is unknown. `R` and `N` return the messages that the first two would publish. Empty wakes no
/// waiter. A small letter stands for a single server, where a client has one channel for all locks. `valid_until` is
/// the server's time in microseconds until which an acquire may take effect; for operations that end one, the latest
/// such time of its duplicates.
pub fn encode(cmd: &mut Cmd, key: &LockKey, keys: Keys, op: &Op, publish: &str, valid_until: u64) {
    let terms = Terms {
        publishing: Publishing(publish, key.prefix().len()),
        valid_until,
    };
    name_keys(cmd, key, keys);
    dialect(key.kind()).arguments(cmd, op, &terms);
}

/// What follows a [brief](super::Script::brief) script.
pub fn encode_brief(cmd: &mut Cmd, key: &LockKey, op: &Op) {
    name_keys(cmd, key, Keys::First);
    if let Op::Release { hold, .. } = op {
        argument(cmd).hold(hold);
    }
}

fn name_keys(cmd: &mut Cmd, key: &LockKey, keys: Keys) {
    let beside = keys == Keys::All && key.kind().features().is_string && !key.is_apart();
    cmd.write_arg(if beside { b"2" } else { b"1" });
    cmd.write_arg(key.as_str().as_bytes());
    if beside {
        cmd.write_arg(key.record().as_bytes());
    }
}

/// The command of Redis that does what a release does to a lock's only hold, or what acquires a mutex, if no client waits and there
/// is nothing else to record. The answer 0, or none, says that it has found something else, which is for the script to judge.
#[must_use]
pub fn encode_plain(key: &LockKey, op: &Op) -> Option<Cmd> {
    dialect(key.kind()).plain(key, op)
}
