//! `SCAN`: in the order in which keys stand here, which is no server's.

use super::number::integer;
use super::{Call, NOT_A_NUMBER, SYNTAX};
use crate::server::data::{Entry, Value};
use crate::server::node::Node;
use crate::server::resp::Reply;

pub(super) fn scan(node: &mut Node, call: &Call<'_>) -> Reply {
    let Some(from) = integer(call.args[1]).and_then(|cursor| usize::try_from(cursor).ok()) else {
        return Reply::error("ERR invalid cursor");
    };
    let (mut pattern, mut many, mut kind) = (None, 10, None);
    for option in call.args[2..].chunks(2) {
        let [name, value] = option else {
            return Reply::error(SYNTAX);
        };
        match &*name.to_ascii_uppercase() {
            b"MATCH" => pattern = Some(*value),
            b"TYPE" => kind = Some(*value),
            b"COUNT" => match integer(value).map(usize::try_from) {
                Some(Ok(count)) if count > 0 => many = count,
                Some(_) => return Reply::error(SYNTAX),
                None => return Reply::error(NOT_A_NUMBER),
            },
            _ => return Reply::error(SYNTAX),
        }
    }
    let now = node.millis();
    let is_wanted = |(key, entry): &(&Vec<u8>, &Entry)| {
        let of_kind = match entry.value {
            Value::Text(_) => "string",
            Value::Hash(_) => "hash",
        };
        !entry.is_over(now)
            && pattern.is_none_or(|pattern| matches(pattern, key))
            && kind.is_none_or(|kind| kind.eq_ignore_ascii_case(of_kind.as_bytes()))
    };
    let keys = node.data.iter().skip(from).take(many).filter(is_wanted);
    let found = Reply::Array(keys.map(|(key, _)| Reply::bulk(key)).collect());
    let next = if from + many < node.data.len() {
        from + many
    } else {
        0
    };
    Reply::Array(vec![Reply::bulk(next.to_string()), found])
}

/// Whether a text is as a pattern of `*`, `?`, `[…]` and escapes says.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|skipped| matches(rest, &text[skipped..])),
        [b'?', rest @ ..] => !text.is_empty() && matches(rest, &text[1..]),
        [b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(|byte| *byte == b']') else {
                return false;
            };
            let (wanted, set) = match &rest[..end] {
                [b'^', set @ ..] => (false, set),
                set => (true, set),
            };
            text.first()
                .is_some_and(|byte| set.contains(byte) == wanted)
                && matches(&rest[end + 1..], &text[1..])
        }
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => {
            text.first() == Some(literal) && matches(rest, &text[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_servers_do() {
        for (pattern, text, is) in [
            ("dlock:*", "dlock:a", true),
            ("a\\*b*", "a*bc", true),
            ("a\\*b*", "axbc", false),
            ("a[bc]?", "acd", true),
            ("a[^bc]", "ab", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                is,
                "{pattern} {text}"
            );
        }
    }
}
