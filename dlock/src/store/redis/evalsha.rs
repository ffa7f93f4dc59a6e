//! The scripts as commands.

use std::sync::LazyLock;

use redis::{Cmd, Pipeline, RedisWrite};

use super::script::source;
use crate::key::LockKey;
use crate::protocol::{Op, Script, encode, encode_without_line};

/// The SHA1 of each script, by which servers know it.
static HASHES: LazyLock<[String; Script::ALL.len()]> = LazyLock::new(|| {
    Script::ALL.map(|script| redis::Script::new(source(script)).get_hash().into())
});

/// Writes keys and arguments.
pub(super) type Encode = fn(&mut Cmd, &LockKey, &Op, &str);

/// All keys of the lock.
pub(super) const ALL_KEYS: Encode = encode;

/// The lock's own key only.
pub(super) const LOCK_KEY: Encode = encode_without_line;

/// `EVALSHA` of an operation.
pub(super) fn evalsha(encode: Encode, key: &LockKey, op: &Op, publish: &str) -> Cmd {
    let script = &HASHES[Script::of(op) as usize];
    compose("EVALSHA", script, encode, key, op, publish)
}

/// `EVAL` of an operation, for a server that does not have the script.
pub(super) fn eval(encode: Encode, key: &LockKey, op: &Op, publish: &str) -> Cmd {
    compose("EVAL", source(Script::of(op)), encode, key, op, publish)
}

fn compose(
    command: &str,
    script: &str,
    encode: Encode,
    key: &LockKey,
    op: &Op,
    publish: &str,
) -> Cmd {
    // The keys and the channel repeat the name; the rest is short.
    let size = script.len() + 5 * (key.as_str().len() + 8) + 160;
    let mut cmd = Cmd::with_capacity(12, size);
    cmd.write_arg(command.as_bytes());
    cmd.write_arg(script.as_bytes());
    encode(&mut cmd, key, op, publish);
    cmd
}

/// Loads every script.
pub(super) fn add_loads(pipeline: &mut Pipeline) {
    for script in Script::ALL {
        pipeline.cmd("SCRIPT").arg("LOAD").arg(source(script));
    }
}
