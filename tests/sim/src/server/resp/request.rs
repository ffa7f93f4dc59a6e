//! Reading requests.

use std::ops::Range;

/// What stands at the start of the bytes that have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Parsed {
    /// The start of a request.
    Part,
    /// A request: where its arguments are, and how long it is.
    Request(Vec<Range<usize>>, usize),
    /// No request; what to say before closing the connection.
    Nonsense(&'static str),
}

/// Reads one request. Inline commands, which are no arrays, are words on a line.
pub(in super::super) fn parse(bytes: &[u8]) -> Parsed {
    let Some(first) = bytes.first() else {
        return Parsed::Part;
    };
    if *first != b'*' {
        return inline(bytes);
    }
    let Some((count, mut at)) = number(bytes, 1) else {
        return Parsed::Part;
    };
    let Some(count) = count.filter(|count| *count <= 1024 * 1024) else {
        return Parsed::Nonsense("invalid multibulk length");
    };
    let mut arguments = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for _ in 0..count {
        match bytes.get(at) {
            None => return Parsed::Part,
            Some(b'$') => {}
            Some(_) => return Parsed::Nonsense("expected '$'"),
        }
        let Some((length, start)) = number(bytes, at + 1) else {
            return Parsed::Part;
        };
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
            return Parsed::Nonsense("invalid bulk length");
        };
        if bytes.len() < start + length + 2 {
            return Parsed::Part;
        }
        arguments.push(start..start + length);
        at = start + length + 2;
    }
    Parsed::Request(arguments, at)
}

/// The number of a line and where the next line starts; `None` before the line's end has arrived.
fn number(bytes: &[u8], start: usize) -> Option<(Option<i64>, usize)> {
    let length = bytes[start..].iter().position(|byte| *byte == b'\r')?;
    if bytes.len() < start + length + 2 {
        return None;
    }
    let digits = std::str::from_utf8(&bytes[start..start + length]);
    let number = digits.ok().and_then(|digits| digits.parse().ok());
    Some((number, start + length + 2))
}

fn inline(bytes: &[u8]) -> Parsed {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return Parsed::Part;
    };
    let mut arguments = Vec::new();
    let mut start = None;
    for (at, byte) in bytes[..=end].iter().enumerate() {
        if byte.is_ascii_whitespace() {
            arguments.extend(start.take().map(|start| start..at));
        } else if start.is_none() {
            start = Some(at);
        }
    }
    Parsed::Request(arguments, end + 1)
}

#[cfg(test)]
mod tests {
    use super::{Parsed, parse};

    #[test]
    fn a_request_is_read_when_all_of_it_is_there() {
        let bytes = b"*2\r\n$4\r\nHLEN\r\n$1\r\nk\r\n*1";
        for end in 0..21 {
            assert_eq!(parse(&bytes[..end]), Parsed::Part, "{end}");
        }
        assert_eq!(parse(bytes), Parsed::Request(vec![8..12, 18..19], 21));
    }

    #[test]
    fn words_on_a_line_are_a_request() {
        assert_eq!(parse(b"PING  x\r\n"), Parsed::Request(vec![0..4, 6..7], 9));
    }
}
