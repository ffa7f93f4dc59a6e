//! Operations as commands.

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::encode::{Keys, encode, encode_plain, has_plain};
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
    Hash,
    /// As the text of a script.
    Text,
}

impl Form {
    /// The form that costs least while nobody else wants the lock.
    pub(crate) fn uncontended(key: &LockKey, op: &Op) -> Self {
        if has_plain(key.kind(), op) {
            Self::Plain
        } else {
            Self::Hash
        }
    }

    /// Whether the answer is that this form cannot do; then it has done nothing.
    pub(crate) fn falls_short(self, answer: &Value) -> bool {
        self == Self::Plain && (int(answer) == Some(0) || *answer == Value::Nil)
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
    let script = Script::of(key.kind(), op);
    let (name, script) = match form {
        Form::Plain | Form::Hash => ("EVALSHA", hash(script)),
        Form::Text => ("EVAL", source(script)),
    };
    let mut cmd = Cmd::with_capacity(9, script.len() + key.as_str().len() + 160);
    cmd.write_arg(name.as_bytes());
    cmd.write_arg(script.as_bytes());
    encode(&mut cmd, key, keys, op, publishing, valid_until);
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
