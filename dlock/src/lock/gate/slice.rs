//! For how long a hold stays inside a process.

use std::time::Duration;

use crate::clock::BootInstant;
use crate::token::FencingToken;

/// For how long and how often a hold is passed on before the server is asked whether another
/// process waits.
const LENGTH: Duration = Duration::from_millis(5);
const COUNT: u32 = 2000;

// Each time takes a token, the one that ends the slice and the first of the next, too.
const _: () = assert!(COUNT as u64 + 2 < FencingToken::EACH);

/// One such time.
#[derive(Debug, Clone)]
pub(super) struct Slice {
    since: BootInstant,
    passed_on: u32,
}

impl Slice {
    pub(super) fn new(since: BootInstant) -> Self {
        Self {
            since,
            passed_on: 0,
        }
    }

    /// The hold went to one more task.
    pub(super) fn count(&mut self) {
        self.passed_on += 1;
    }

    pub(super) fn is_open(&self, now: BootInstant) -> bool {
        self.passed_on < COUNT && now.since(self.since) < LENGTH
    }
}
