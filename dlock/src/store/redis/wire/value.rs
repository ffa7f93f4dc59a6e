//! What values of the protocol mean as numbers and texts.

use redis::Value;

/// A number, which a script may have left as text.
pub(super) fn int(value: &Value) -> Option<u64> {
    match value {
        Value::Int(int) => u64::try_from(*int).ok(),
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

/// A string of either kind.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text),
        _ => None,
    }
}
