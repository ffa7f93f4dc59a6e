//! A lock that an annotated function took.

use std::fmt;

use crate::{LockKind, LockMode};

/// A lock that an annotated function took inside a [`Scope`](super::Scope).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// The name of the lock: the key with its captures filled in.
    pub name: String,
    /// What kind of lock it is.
    pub kind: LockKind,
    /// What it was asked for: of a mutex always [`Write`](LockMode::Write).
    pub mode: LockMode,
    /// The label of its metrics: the key as written, unless `label = ".."` says otherwise.
    pub label: &'static str,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match (self.kind, self.mode) {
            (LockKind::Rw, LockMode::Read) => write!(f, "`{name}` for reading"),
            (LockKind::Rw, LockMode::Write) => write!(f, "`{name}` for writing"),
            (mutex, _) => write!(f, "`{name}` ({mutex})"),
        }
    }
}
