//! Which locks a server has.

use redis::{Cmd, Value};

use super::value::text;
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

/// Takes the token of a lock that nobody will want again.
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

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn prefixes_are_taken_literally() {
        assert_eq!(escape("a*b[c]"), "a\\*b\\[c\\]");
    }
}
