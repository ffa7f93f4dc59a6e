//! Operations as commands.

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::encode::{Keys, encode, encode_brief, encode_plain, has_plain};
use super::script::{Script, hash, source};
use super::value::int;
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
    /// The form that costs least while nobody else wants the lock.
    pub(crate) fn uncontended(key: &LockKey, op: &Op) -> Self {
        if has_plain(key.kind(), op) {
            return Self::Plain;
        }
        Script::brief(key.kind(), op).map_or_else(|| Self::contended(key, op), Self::Hash)
    }

    /// The form that does for all cases.
    pub(crate) fn contended(key: &LockKey, op: &Op) -> Self {
        Self::Hash(Script::of(key.kind(), op))
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

    /// Whether it is only good for a lock that nobody else wants.
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
    let script = form.script().unwrap_or_else(|| Script::of(key.kind(), op));
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

/// What stands right before a request, so that nobody's comes in between.
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
