//! What both sides have in common: requests go in, replies come out.

use crate::value::Value;

/// A connection to one side.
pub(crate) trait Link {
    fn write(&mut self, bytes: &[u8]);
    /// All that comes before the answer to a `PING marker`.
    fn until(&mut self, marker: &str) -> Vec<Value>;
}

/// A request as it goes over the wire.
pub(crate) fn packed(args: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        bytes.extend_from_slice(format!("${}\r\n", arg.as_ref().len()).as_bytes());
        bytes.extend_from_slice(arg.as_ref());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Replies that arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    values: Vec<Value>,
}

impl Decoder {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn next(&mut self) -> Option<Value> {
        let (value, length) = Value::read(&self.bytes)?;
        self.bytes.drain(..length);
        Some(value)
    }

    /// All before the answer to a `PING marker`, once that is there.
    pub(crate) fn until(&mut self, marker: &str) -> Option<Vec<Value>> {
        while let Some(value) = self.next() {
            let is_marker = match &value {
                Value::Many('*', items) => {
                    items.len() == 2 && items[0].is("pong") && items[1].is(marker)
                }
                value => value.is(marker),
            };
            if is_marker {
                return Some(std::mem::take(&mut self.values));
            }
            self.values.push(value);
        }
        None
    }
}
