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

/// Names one acquisition: `<client>/<counter>`, with [`LINGERS`](Self::LINGERS) behind it if the hold may linger. Only a client that
/// knows it can renew or release.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId {
    client: ClientId,
    /// The number, with [`MARK`](Self::MARK): ids are copied often, and a field of its own would make them a third larger.
    n: u64,
}

impl HoldId {
    /// The mark of a hold that its process keeps for its next task: a script that finds the lock taken by it tells the process.
    pub const LINGERS: char = '~';

    /// Stands in the number for [`LINGERS`](Self::LINGERS). No client has made so many acquisitions.
    const MARK: u64 = 1 << 63;

    /// The next acquisition of a client.
    pub fn next(client: &ClientId, counter: &AtomicU64) -> Self {
        Self {
            client: client.clone(),
            n: counter.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Marks the acquisition as one of a hold that may linger.
    #[must_use]
    pub fn lingering(mut self) -> Self {
        self.n |= Self::MARK;
        self
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (client, n) = text.rsplit_once('/')?;
        let (n, mark) = match n.strip_suffix(Self::LINGERS) {
            Some(n) => (n, Self::MARK),
            None => (n, 0),
        };
        let n = u64::from_str_radix(n, 16).ok();
        Some(Self {
            client: ClientId(client.into()),
            n: n.filter(|n| *n < Self::MARK)? | mark,
        })
    }

    /// Whether a client of dlock made this id, by the look of it. Others put ids of their own into mutexes.
    pub(crate) fn is_one(text: &str) -> bool {
        let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let text = text.strip_suffix(Self::LINGERS).unwrap_or(text);
        let mut parts = text.split('/').skip(1);
        let random = parts
            .next()
            .is_some_and(|part| part.len() == 16 && is_hex(part));
        random && parts.next().is_some_and(is_hex) && parts.next().is_none()
    }

    /// The acquisition's number, among those of its client.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.n & !Self::MARK
    }

    /// Whether the process may keep the hold for its next task.
    #[must_use]
    pub fn lingers(&self) -> bool {
        self.n & Self::MARK != 0
    }

    /// The client that acquired.
    #[must_use]
    pub fn client(&self) -> &ClientId {
        &self.client
    }
}

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:x}", self.client.0, self.number())?;
        if self.lingers() {
            write!(f, "{}", Self::LINGERS)?;
        }
        Ok(())
    }
}

impl fmt::Debug for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HoldId({self})")
    }
}
