//! Operations as commands.

use std::sync::LazyLock;

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::script::source;
use crate::key::LockKey;
use crate::protocol::{Op, Script, encode, encode_plain, has_plain, wants_script};

/// The SHA1 of each script, by which servers know it.
static HASHES: LazyLock<[String; Script::ALL.len()]> = LazyLock::new(|| {
    Script::ALL.map(|script| redis::Script::new(source(script)).get_hash().into())
});

/// How an operation is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a command of Redis.
    Plain,
    /// As a script that the server knows.
    Hash,
    /// As the text of a script.
    Text,
}

impl Form {
    /// The form that costs least while nobody else wants the lock.
    pub(super) fn uncontended(op: &Op) -> Self {
        if has_plain(op) {
            Self::Plain
        } else {
            Self::Hash
        }
    }

    /// Whether the answer is that this form cannot do; then it has done nothing.
    pub(super) fn falls_short(self, answer: &Value) -> bool {
        self == Self::Plain && wants_script(answer)
    }
}

/// The command, which is valid until then (see [`encode`]).
pub(super) fn command(
    form: Form,
    key: &LockKey,
    op: &Op,
    publishing: &str,
    valid_until: u64,
) -> Cmd {
    let (name, script) = match form {
        Form::Plain => {
            if let Some(plain) = encode_plain(key, op) {
                return plain;
            }
            ("EVALSHA", HASHES[Script::of(op) as usize].as_str())
        }
        Form::Hash => ("EVALSHA", HASHES[Script::of(op) as usize].as_str()),
        Form::Text => ("EVAL", source(Script::of(op))),
    };
    let mut cmd = Cmd::with_capacity(9, script.len() + key.as_str().len() + 224);
    cmd.write_arg(name.as_bytes());
    cmd.write_arg(script.as_bytes());
    encode(&mut cmd, key, op, publishing, valid_until);
    cmd
}

/// Loads every script.
pub(super) fn add_loads(pipeline: &mut Pipeline) {
    for script in Script::ALL {
        pipeline.cmd("SCRIPT").arg("LOAD").arg(source(script));
    }
}
