//! What operators ask a server: which locks it has, and how busy it is with scripts.

use redis::{Cmd, Value};

use super::decode::text;
use crate::key::LockKey;

/// Keys looked at in one step.
const STEP: usize = 1000;

/// One step through the keys that start with `stem`, from `cursor` on, which is `0` at first.
pub(crate) fn scan(stem: &str, cursor: &str) -> Cmd {
    let mut scan = redis::cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(escape(stem) + "*");
    scan.arg("COUNT").arg(STEP).arg("TYPE").arg("hash");
    scan
}

/// The cursor of the next step, if there is one, and the keys found. `None` for an answer to something else.
pub(crate) fn found(answer: &Value) -> Option<(Option<String>, impl Iterator<Item = String>)> {
    let Value::Array(parts) = answer else {
        return None;
    };
    let [next, Value::Array(keys)] = parts.as_slice() else {
        return None;
    };
    let next = text(next).filter(|next| *next != "0").map(str::to_owned);
    Some((next, keys.iter().filter_map(text).map(str::to_owned)))
}

/// Removes the last token of a lock that no client will want again.
pub(crate) fn forget_token(key: &LockKey) -> Cmd {
    let mut forget = redis::cmd("HDEL");
    forget.arg(key.as_str()).arg("t");
    forget
}

/// Takes the meaning from the characters that mean something in a pattern.
pub(super) fn escape(literal: &str) -> String {
    let mut escaped = String::with_capacity(literal.len());
    for c in literal.chars() {
        if "*?[]\\^".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// How much the servers have done for scripts since they started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct ScriptLoad {
    /// How many masters were asked.
    pub servers: usize,
    /// Scripts that were run.
    pub calls: u64,
    /// What they took, in microseconds.
    pub micros: u64,
}

/// Asks a server for its statistics.
pub(crate) fn command_statistics() -> Cmd {
    let mut info = redis::cmd("INFO");
    info.arg("commandstats");
    info
}

impl ScriptLoad {
    /// Adds what one server answers to that.
    pub(crate) fn add(&mut self, answer: &Value) {
        let statistics = text(answer).unwrap_or_default();
        let line =
            |line: &&str| line.starts_with("cmdstat_eval:") || line.starts_with("cmdstat_evalsha:");
        for line in statistics.lines().filter(line) {
            self.calls += field(line, "calls=");
            self.micros += field(line, "usec=");
        }
        self.servers += 1;
    }
}

/// The number after `name` in `cmdstat_evalsha:calls=4,usec=120,…`.
fn field(line: &str, name: &str) -> u64 {
    let number = line.split([':', ',']).find_map(|f| f.strip_prefix(name));
    number.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{escape, field};

    #[test]
    fn prefixes_are_taken_literally() {
        assert_eq!(escape("a*b[c]"), "a\\*b\\[c\\]");
    }

    #[test]
    fn command_statistics_are_read() {
        let line = "cmdstat_evalsha:calls=42,usec=1234,usec_per_call=29.38,rejected_calls=0";
        assert_eq!((field(line, "calls="), field(line, "usec=")), (42, 1234));
        assert_eq!(field(line, "none="), 0);
    }
}
