//! Reading what a server answers to who speaks RESP2.

/// An answer. No client here looks into arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Status(String),
    Error(String),
    Int(i64),
    Bulk(Vec<u8>),
    Null,
}

/// The first answer, and how long it is, if all of it is there.
pub(super) fn parse(bytes: &[u8]) -> Option<(Reply, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let line = String::from_utf8_lossy(bytes.get(1..end)?).into_owned();
    let after = end + 2;
    let reply = match bytes[0] {
        b'+' => Reply::Status(line),
        b':' => Reply::Int(line.parse().unwrap_or(0)),
        b'$' => match line.parse::<usize>() {
            Ok(length) => {
                let text = bytes.get(after..after + length)?.to_vec();
                bytes.get(after + length + 1)?;
                return Some((Reply::Bulk(text), after + length + 2));
            }
            Err(_) => Reply::Null,
        },
        _ => Reply::Error(line),
    };
    Some((reply, after))
}

#[cfg(test)]
mod tests {
    use super::{Reply, parse};

    #[test]
    fn an_answer_is_read_when_all_of_it_is_there() {
        for (bytes, reply) in [
            (&b"+OK\r\n"[..], Reply::Status("OK".into())),
            (b"$2\r\nab\r\n", Reply::Bulk(b"ab".to_vec())),
            (b"$-1\r\n", Reply::Null),
            (b":-2\r\n", Reply::Int(-2)),
            (b"-MOVED 1 h:1\r\n", Reply::Error("MOVED 1 h:1".into())),
        ] {
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end]), None);
            }
            assert_eq!(parse(bytes), Some((reply, bytes.len())));
        }
    }
}
