//! The fencing tokens of one hold.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::token::{FencingToken, ServerToken};

/// The last token of a hold: one of those which belong to what the server named last.
#[derive(Debug)]
pub(super) struct Tokens {
    last: AtomicU64,
}

impl Tokens {
    pub(super) fn new(named: ServerToken) -> Self {
        Self {
            last: AtomicU64::new(FencingToken::first_of(named).as_u64()),
        }
    }

    pub(super) fn last(&self) -> FencingToken {
        FencingToken::from_u64(self.last.load(Ordering::Acquire))
    }

    /// The next token for a local hand-over; the server's next one will be larger still. A slice is shorter than there are
    /// tokens for it.
    pub(super) fn next(&self) -> FencingToken {
        FencingToken::from_u64(self.last.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The last token that the server named.
    pub(super) fn named(&self) -> ServerToken {
        ServerToken::behind(self.last())
    }

    /// A fresh token from the server.
    pub(super) fn raise(&self, named: ServerToken) {
        let first = FencingToken::first_of(named).as_u64();
        self.last.fetch_max(first, Ordering::AcqRel);
    }
}
