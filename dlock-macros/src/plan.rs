//! What the arguments of one attribute mean, once they make sense.

use std::time::Duration;

use syn::{Expr, Ident, LitStr, Path};

use crate::key::Template;

/// Everything that decides what is generated.
pub(crate) struct Plan {
    pub(crate) keys: Keys,
    pub(crate) lock: Lock,
    pub(crate) mode: Mode,
    pub(crate) lease: Option<Time>,
    pub(crate) max_hold: Option<Time>,
    pub(crate) min_hold: Option<Time>,
    pub(crate) linger: Option<Time>,
    pub(crate) wait: Option<Wait>,
    pub(crate) on_lost: OnLost,
    /// What to return when the lock was not had in time: a value, or a closure of the error.
    pub(crate) on_busy: Option<Expr>,
    /// Whether to lock at all.
    pub(crate) when: Option<Expr>,
    pub(crate) guard: Option<Ident>,
    pub(crate) client: Option<Expr>,
    pub(crate) label: Option<LitStr>,
    /// Where the generated code finds the crate.
    pub(crate) krate: Option<Path>,
}

/// The locks: one thing, or several at once.
pub(crate) enum Keys {
    One(Key),
    Several(Vec<Key>),
    /// Something to iterate over.
    Computed(Expr),
}

/// One key.
pub(crate) enum Key {
    Template(Template),
    Computed(Expr),
}

/// What kind of lock it is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Lock {
    #[default]
    Rw,
    Mutex,
    FencedMutex,
}

/// How it is locked.
pub(crate) enum Mode {
    Read,
    Write,
    Computed(Expr),
}

/// A length of time.
pub(crate) enum Time {
    Literal(Duration),
    Computed(Expr),
}

/// How long to wait for the lock.
pub(crate) enum Wait {
    None,
    Forever,
    For(Time),
}

/// What happens to the body when the lease is lost.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnLost {
    #[default]
    Cancel,
    Continue,
}
