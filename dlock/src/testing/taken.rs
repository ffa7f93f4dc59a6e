//! A lock that an annotated function took.

use std::fmt;

use crate::Mode;

/// A lock that an annotated function took inside a [`Scope`](super::Scope).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// The name of the lock: the key with its captures filled in.
    pub name: String,
    /// What it was asked for.
    pub mode: Mode,
    /// The label of its metrics: the key as written, unless `name = ".."` says otherwise.
    pub label: &'static str,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purpose = match self.mode {
            Mode::Read => "reading",
            Mode::Write => "writing",
        };
        write!(f, "`{}` for {purpose}", self.name)
    }
}
