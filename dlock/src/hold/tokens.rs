//! The fencing tokens of one hold.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::token::FencingToken;

/// The last token that the server named, and the last that this client has handed out.
#[derive(Debug)]
pub(super) struct Tokens {
    last: AtomicU64,
    named: AtomicU64,
}

impl Tokens {
    pub(super) fn new(named: FencingToken) -> Self {
        Self {
            last: AtomicU64::new(named.as_u64()),
            named: AtomicU64::new(named.as_u64()),
        }
    }

    pub(super) fn last(&self) -> FencingToken {
        FencingToken::new(self.last.load(Ordering::Acquire))
    }

    /// The next token for a local hand-over; the server's next one will be larger still.
    pub(super) fn next(&self) -> FencingToken {
        FencingToken::new(self.last.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The last token that the server named.
    pub(super) fn named(&self) -> FencingToken {
        FencingToken::new(self.named.load(Ordering::Acquire))
    }

    /// The last token that was handed out without the server's knowledge.
    pub(super) fn handed(&self) -> Option<FencingToken> {
        let last = self.last();
        (last > self.named()).then_some(last)
    }

    /// A fresh token from the server.
    pub(super) fn raise(&self, token: FencingToken) {
        self.named.fetch_max(token.as_u64(), Ordering::AcqRel);
        self.last.fetch_max(token.as_u64(), Ordering::AcqRel);
    }
}
