//! What a script did.

use std::collections::BTreeMap;

use dlock::__internals::{Message, Op, Reply, decode};
use redis::Value;

use super::mutex::Held;

/// What came of one script.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its answer, or why it was aborted.
    pub answer: Result<Reply, String>,
    /// What it published, in order.
    pub told: Vec<Told>,
    /// How many commands it tried to run.
    pub calls: u64,
    /// Until when the hash is kept, in microseconds; `None` if for ever, or if there is none.
    pub kept: Option<u64>,
    /// What it left of the lock's hash.
    pub fields: BTreeMap<String, String>,
    /// What it left of a mutex' string.
    pub held: Option<Held>,
}

/// A message as it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The command and the channel; `note` if it has been left to the client to publish.
    pub channel: String,
    /// What it says.
    pub message: Message,
    /// Whether a subscriber received it.
    pub heard: bool,
    /// The listed hold of the one it is for, at that moment; empty if there was none.
    pub record: String,
}

impl Outcome {
    pub(super) fn read(op: &Op, value: Value) -> Self {
        type Raw = (
            (bool, Value),
            Vec<(String, String, bool, String)>,
            u64,
            String,
            BTreeMap<String, String>,
            Vec<String>,
        );
        let ((done, reply), told, calls, kept, fields, string): Raw =
            redis::from_redis_value(value).expect("what the stage returns");
        let notes = if done && op.passes_on() {
            notes(&reply)
        } else {
            Vec::new()
        };
        let answer = if done {
            decode(op, &reply).ok_or_else(|| format!("no answer to {op:?}: {reply:?}"))
        } else {
            Err(redis::from_redis_value(reply).expect("an error is text"))
        };
        let told = told.into_iter().map(|(channel, text, heard, record)| Told {
            message: Message::parse(&text).unwrap_or_else(|| panic!("no message: {text}")),
            channel,
            heard,
            record,
        });
        Self {
            answer,
            told: told.chain(notes).collect(),
            calls,
            kept: (!kept.is_empty()).then(|| 1000 * kept.parse::<u64>().expect("milliseconds")),
            fields,
            held: Held::read(&string),
        }
    }
}

/// What a script asks its client to publish.
fn notes(reply: &Value) -> Vec<Told> {
    let Value::Array(parts) = reply else {
        return Vec::new();
    };
    let Some(Value::Array(notes)) = parts.get(1) else {
        return Vec::new();
    };
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    };
    notes
        .chunks_exact(2)
        .filter_map(|note| {
            Some(Told {
                channel: format!("note {}", text(&note[0])?),
                message: Message::parse(&text(&note[1])?)?,
                heard: false,
                record: String::new(),
            })
        })
        .collect()
}
