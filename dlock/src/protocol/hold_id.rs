//! Ids of clients and of their acquisitions.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::random;

/// Names one client: `<name>/<random>`. Wake-ups are addressed to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(Arc<str>);

impl ClientId {
    /// A fresh id under a readable name, with 64 random bits behind it.
    ///
    /// Only letters, digits and `.:_-` of the name are kept, at most 24: with the counter behind it
    /// the id stays short enough for Redis's compact hash encoding (64 bytes).
    #[must_use]
    pub fn new(name: &str) -> Self {
        let name: String = name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || ".:_-".contains(*c))
            .take(24)
            .collect();
        Self(format!("{name}/{:016x}", random::u64(..)).into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names one acquisition: `<client>/<counter>`. Only a client that knows it can renew or release.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId {
    client: ClientId,
    n: u64,
}

impl HoldId {
    /// The next acquisition of a client.
    pub fn next(client: &ClientId, counter: &AtomicU64) -> Self {
        Self {
            client: client.clone(),
            n: counter.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (client, n) = text.rsplit_once('/')?;
        Some(Self {
            client: ClientId(client.into()),
            n: u64::from_str_radix(n, 16).ok()?,
        })
    }

    /// Whether a client of dlock made this id, by the look of it. Others put ids of their own into mutexes.
    pub(crate) fn is_one(text: &str) -> bool {
        let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut parts = text.split('/').skip(1);
        let random = parts
            .next()
            .is_some_and(|part| part.len() == 16 && is_hex(part));
        random && parts.next().is_some_and(is_hex) && parts.next().is_none()
    }

    /// The acquisition's number, among those of its client.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.n
    }

    /// The client that acquired.
    #[must_use]
    pub fn client(&self) -> &ClientId {
        &self.client
    }
}

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:x}", self.client.0, self.n)
    }
}

impl fmt::Debug for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HoldId({self})")
    }
}
