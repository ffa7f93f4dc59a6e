//! The hold of a mutex.

use std::time::Duration;

use crate::kind::LockMode;
use crate::protocol::HoldId;
use crate::store::memory::lock::hold::Hold;
use crate::store::memory::lock::state::{Moment, after};

/// For how long, in µs, a string without an expiry is taken to stay.
const FOREVER: u64 = 3_600_000_000;

/// A string: its value, and when it expires.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) value: Value,
    /// The last millisecond of the server's clock in which it is there, as keys expire in Redis; it stays, if `None`.
    pub(super) until: Option<u64>,
}

/// The holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A client of dlock.
    Own(HoldId),
    /// Another program.
    Foreign(Box<str>),
}

impl Value {
    pub(super) fn read(text: &str) -> Self {
        match HoldId::parse(text) {
            Some(id) if is_own(&id) && id.to_string() == text => Self::Own(id),
            _ => Self::Foreign(text.into()),
        }
    }

    pub(super) fn is(&self, id: &HoldId) -> bool {
        matches!(self, Self::Own(own) if own == id)
    }
}

/// Whether a client of dlock may have this id: `<name>/<16 of hex>/<hex>`.
fn is_own(id: &HoldId) -> bool {
    let parts = id.client().as_str().split_once('/');
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b".:_-".contains(&byte);
    let in_number = |byte: u8| byte.is_ascii_hexdigit();
    parts.is_some_and(|(name, number)| {
        name.bytes().all(in_name) && number.len() == 16 && number.bytes().all(in_number)
    })
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Own(id) => id.fmt(f),
            Self::Foreign(value) => f.write_str(value),
        }
    }
}

impl Held {
    pub(super) fn new(value: Value, now: u64, lease: Duration) -> Self {
        Self {
            value,
            until: Some(after(now, lease) / 1000),
        }
    }

    pub(super) fn is_over(&self, real: u64) -> bool {
        self.until.is_some_and(|until| real / 1000 > until)
    }

    /// The rest of its lease, in µs.
    pub(super) fn left(&self, real: u64) -> u64 {
        self.until.map_or(FOREVER, |until| {
            until.saturating_sub(real / 1000).saturating_mul(1000)
        })
    }

    /// As a hold of a lock, at one moment.
    pub(super) fn as_hold(&self, at: Moment) -> Option<Hold> {
        let id = match &self.value {
            Value::Own(id) => id.clone(),
            Value::Foreign(value) => HoldId::parse(&format!("{value}/0/0"))?,
        };
        Some(Hold {
            id,
            mode: LockMode::Write,
            owner: None,
            // It is there for all of its last millisecond.
            deadline: at.now.saturating_add(self.left(at.real) + 1000),
            token: 0,
        })
    }
}
