//! Writing replies.

use std::borrow::Cow;
use std::io::Write as _;

/// What a server answers, or sends unasked.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Reply {
    /// A line of text, such as `OK`.
    Status(Cow<'static, str>),
    /// A refusal with its code, such as `ERR syntax error`.
    Error(Cow<'static, str>),
    Int(i64),
    Bulk(Vec<u8>),
    /// A text that RESP3 marks as one.
    Text(String),
    Double(f64),
    Null,
    Array(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
    Set(Vec<Reply>),
    /// What RESP3 marks as sent unasked.
    Push(Vec<Reply>),
    /// Several replies to one request, as to `SUBSCRIBE`.
    Several(Vec<Reply>),
}

impl Reply {
    pub(in super::super) fn ok() -> Self {
        Self::Status("OK".into())
    }

    pub(in super::super) fn error(line: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(line.into())
    }

    pub(in super::super) fn bulk(bytes: impl AsRef<[u8]>) -> Self {
        Self::Bulk(bytes.as_ref().to_vec())
    }

    /// Appends the reply as it goes over the wire.
    pub(in super::super) fn write(&self, resp3: bool, out: &mut Vec<u8>) {
        match self {
            Self::Status(text) => line(out, '+', text),
            Self::Error(text) => line(out, '-', text.replace(['\r', '\n'], " ")),
            Self::Int(number) => line(out, ':', number),
            Self::Bulk(bytes) => bulk(out, bytes),
            Self::Text(text) if resp3 => {
                line(out, '=', text.len() + 4);
                out.extend_from_slice(b"txt:");
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            Self::Text(text) => bulk(out, text.as_bytes()),
            Self::Double(number) if resp3 => line(out, ',', number),
            Self::Double(number) => bulk(out, number.to_string().as_bytes()),
            Self::Null if resp3 => out.extend_from_slice(b"_\r\n"),
            Self::Null => out.extend_from_slice(b"$-1\r\n"),
            Self::Array(items) => many(out, '*', items, resp3),
            Self::Set(items) => many(out, if resp3 { '~' } else { '*' }, items, resp3),
            Self::Push(items) => many(out, if resp3 { '>' } else { '*' }, items, resp3),
            Self::Map(pairs) => {
                if resp3 {
                    line(out, '%', pairs.len());
                } else {
                    line(out, '*', pairs.len() * 2);
                }
                for (key, value) in pairs {
                    key.write(resp3, out);
                    value.write(resp3, out);
                }
            }
            Self::Several(replies) => {
                for reply in replies {
                    reply.write(resp3, out);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, kind: char, text: impl std::fmt::Display) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{kind}{text}\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    line(out, '$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn many(out: &mut Vec<u8>, kind: char, items: &[Reply], resp3: bool) {
    line(out, kind, items.len());
    for item in items {
        item.write(resp3, out);
    }
}
