//! Numbers as servers read and write them.

/// A 64-bit integer in its only notation.
pub(in super::super) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [] => false,
        [b'0', ..] => text == b"0",
        _ => digits.iter().all(u8::is_ascii_digit),
    };
    if !canonical {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// What a number of items is as a reply.
pub(super) fn count(items: usize) -> crate::server::resp::Reply {
    crate::server::resp::Reply::Int(i64::try_from(items).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn integers_have_one_notation() {
        for (text, number) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("+1", None),
            ("01", None),
            ("", None),
            ("-0", None),
            ("1 ", None),
        ] {
            assert_eq!(integer(text.as_bytes()), number, "{text}");
        }
    }
}
