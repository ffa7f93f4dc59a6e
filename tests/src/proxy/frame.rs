//! Where a RESP frame ends, and what it is; both protocol versions.

use std::ops::Range;

/// The bytes are not RESP: an inline command or a replication stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotResp;

/// Length of the first frame in `bytes`; `None` while it is incomplete.
pub(crate) fn frame_len(bytes: &[u8]) -> Result<Option<usize>, NotResp> {
    let mut at = 0;
    let mut open = 1_usize;
    while open > 0 {
        let Some(header) = Header::parse(bytes, at)? else {
            return Ok(None);
        };
        at = header.end;
        open = open - 1 + header.children;
    }
    Ok(Some(at))
}

/// The words of a request, or of a push: the strings of a flat array, up to `most`.
pub(crate) fn words(frame: &[u8], most: usize) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let Ok(Some(header)) = Header::parse(frame, 0) else {
        return words;
    };
    let mut at = header.end;
    while words.len() < most.min(header.children) {
        match Header::parse(frame, at) {
            Ok(Some(item)) if item.children == 0 => {
                words.push(&frame[item.text]);
                at = item.end;
            }
            _ => break,
        }
    }
    words
}

/// One value without its children.
struct Header {
    /// The text of a string, or the rest of the line.
    text: Range<usize>,
    end: usize,
    children: usize,
}

impl Header {
    fn parse(bytes: &[u8], at: usize) -> Result<Option<Self>, NotResp> {
        let Some(kind) = bytes.get(at) else {
            return Ok(None);
        };
        if !b"+-:$*_,#!(=%~>|".contains(kind) {
            return Err(NotResp);
        }
        let start = at + 1;
        let Some(line) = bytes[start..].windows(2).position(|two| two == b"\r\n") else {
            return Ok(None);
        };
        let (text, end) = (start..start + line, start + line + 2);
        let count = || {
            let number = std::str::from_utf8(&bytes[text.clone()]).map_err(|_| NotResp)?;
            let number: i64 = number.parse().map_err(|_| NotResp)?;
            // -1 is the null of RESP2: nothing follows.
            Ok(usize::try_from(number).ok())
        };
        let (text, end, children) = match kind {
            b'$' | b'!' | b'=' => match count()? {
                Some(len) => (end..end + len, end + len + 2, 0),
                None => (end..end, end, 0),
            },
            b'*' | b'~' | b'>' => (text.clone(), end, count()?.unwrap_or(0)),
            b'%' => (text.clone(), end, 2 * count()?.unwrap_or(0)),
            // Attributes are followed by the value they belong to.
            b'|' => (text.clone(), end, 2 * count()?.unwrap_or(0) + 1),
            _ => (text, end, 0),
        };
        Ok((end <= bytes.len()).then_some(Self {
            text,
            end,
            children,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_where_their_last_child_ends() {
        for frame in [
            "+OK\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "*-1\r\n",
            "*0\r\n",
            "*2\r\n$3\r\nGET\r\n$1\r\na\r\n",
            "*2\r\n*2\r\n:1\r\n:2\r\n$2\r\n\r\n\r\n",
            ">3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n",
            "%1\r\n+a\r\n*1\r\n_\r\n",
            "|1\r\n+ttl\r\n:5\r\n+value\r\n",
            "=5\r\ntxt:a\r\n",
        ] {
            let mut bytes = frame.as_bytes().to_vec();
            for cut in 0..bytes.len() {
                assert_eq!(frame_len(&bytes[..cut]), Ok(None), "{frame:?} cut at {cut}");
            }
            bytes.extend_from_slice(b"+next\r\n");
            assert_eq!(frame_len(&bytes), Ok(Some(frame.len())), "{frame:?}");
        }
        assert_eq!(frame_len(b"PING\r\n"), Err(NotResp));
    }

    #[test]
    fn words_of_requests_and_pushes() {
        let push = b">3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n";
        assert_eq!(words(push, 2), [&b"smessage"[..], b"c"]);
        assert_eq!(words(b"*1\r\n*1\r\n:1\r\n", 1), [&b""[..]; 0]);
        assert_eq!(words(b"+OK\r\n", 1), [&b""[..]; 0]);
    }
}
