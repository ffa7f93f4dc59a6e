//! The scripts as commands.

use std::sync::LazyLock;

use redis::{Cmd, Pipeline, RedisWrite};

use crate::key::LockKey;
use crate::protocol::{Op, Script, encode};

/// A script's text and its SHA1, by which servers know it.
struct Text {
    source: String,
    sha: String,
}

static TEXTS: LazyLock<[Text; 6]> = LazyLock::new(|| {
    Script::ALL.map(|script| {
        let source = source(script);
        let sha = redis::Script::new(&source).get_hash().to_owned();
        Text { source, sha }
    })
});

fn text(script: Script) -> &'static Text {
    &TEXTS[script as usize]
}

fn source(script: Script) -> String {
    let text = match script {
        Script::Acquire => include_str!("lua/acquire.lua"),
        Script::Release => include_str!("lua/release.lua"),
        Script::Renew => include_str!("lua/renew.lua"),
        Script::Abandon => include_str!("lua/abandon.lua"),
        Script::Yield => include_str!("lua/yield.lua"),
        Script::Inspect => include_str!("lua/inspect.lua"),
    };
    text.replace("-- include: common.lua", include_str!("lua/common.lua"))
}

/// `EVALSHA` of an operation.
pub(super) fn evalsha(key: &LockKey, op: &Op, publish: &str) -> Cmd {
    compose("EVALSHA", &text(Script::of(op)).sha, key, op, publish)
}

/// `EVAL` of an operation, for a server that does not have the script.
pub(super) fn eval(key: &LockKey, op: &Op, publish: &str) -> Cmd {
    compose("EVAL", &text(Script::of(op)).source, key, op, publish)
}

fn compose(command: &str, script: &str, key: &LockKey, op: &Op, publish: &str) -> Cmd {
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
    for text in &*TEXTS {
        pipeline.cmd("SCRIPT").arg("LOAD").arg(&text.source);
    }
}

#[cfg(test)]
mod tests {
    use super::{TEXTS, text};
    use crate::protocol::Script;

    #[test]
    fn every_script_is_complete_and_found_by_its_number() {
        for script in Script::ALL {
            assert!(!text(script).source.contains("include:"), "{script:?}");
            assert_eq!(text(script).sha.len(), 40);
        }
        assert!(text(Script::Renew).source.contains("lease in us"));
        assert_eq!(TEXTS.len(), Script::ALL.len());
    }
}
