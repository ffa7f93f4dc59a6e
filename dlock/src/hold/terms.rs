//! On which terms a hold is asked for.

use std::time::Duration;

use crate::kind::Kind;
use crate::mode::Mode;

/// What a hold was acquired with, and what two tasks must agree on to share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Some want a token with a mutex, and some do not.
    pub(crate) kind: Kind,
    pub(crate) mode: Mode,
    pub(crate) lease: Duration,
    pub(crate) max_hold: Option<Duration>,
    /// How long the lock stays held, although its holder may be done.
    pub(crate) min_hold: Option<Duration>,
}

impl Terms {
    /// Readers stand on one hold together, unless each has a time limit of its own.
    pub(crate) fn shareable(&self) -> bool {
        self.mode == Mode::Read && self.max_hold.is_none() && self.min_hold.is_none()
    }

    /// Writers pass a hold on, unless each has to keep it for a while.
    pub(crate) fn may_be_passed_on(&self) -> bool {
        self.mode == Mode::Write && self.min_hold.is_none()
    }
}
