//! Telling waiters.

use crate::protocol::Message;

/// How many readers are told at once that they may enter.
const PIECE: u64 = 128;

/// Delivers messages, and knows, or does not, whether they are heard.
pub struct Post<'a> {
    deliver: &'a mut dyn FnMut(&Message) -> bool,
    trusted: bool,
    when_entering: bool,
    piece: u64,
}

impl<'a> Post<'a> {
    /// A post that knows whether a message reached a subscriber.
    pub fn new(deliver: &'a mut dyn FnMut(&Message) -> bool) -> Self {
        Self {
            deliver,
            trusted: true,
            when_entering: true,
            piece: PIECE,
        }
    }

    /// A post that does not know whether a message arrives. So messages only ask waiters to look, and grant nothing.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self {
            trusted: false,
            ..self
        }
    }

    /// A post that delivers when a holder leaves, but not when a waiter enters.
    #[must_use]
    pub fn not_when_entering(self) -> Self {
        Self {
            when_entering: false,
            ..self
        }
    }

    /// Tells so many readers at once.
    #[must_use]
    pub fn in_pieces_of(self, piece: u64) -> Self {
        Self { piece, ..self }
    }

    pub(super) fn tell(&mut self, message: &Message) -> bool {
        (self.deliver)(message)
    }

    pub(super) fn knows_who_hears(&self) -> bool {
        self.trusted
    }

    pub(super) fn serves_who_enters(&self) -> bool {
        self.when_entering
    }

    pub(super) fn piece(&self) -> u64 {
        self.piece
    }
}

impl std::fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post")
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}
