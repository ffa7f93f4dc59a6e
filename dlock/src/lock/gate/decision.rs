//! What a line asks of a hold, and what it decides.

use crate::clock::BootInstant;
use crate::hold::Terms;

/// What a line has to know of a hold.
pub(super) trait AsHold: Clone {
    /// Whether both are the same.
    fn is(&self, other: &Self) -> bool;
    fn terms(&self) -> Terms;
    /// Whether it is worth joining or passing on.
    fn is_healthy(&self, now: BootInstant) -> bool;
}

/// What one who comes does.
#[derive(Debug)]
pub(super) enum Way<H> {
    /// Shares this hold.
    Join(H),
    /// Asks the server: first to go on with this hold, whose slice is over, if there is one.
    Lead(Option<H>),
    /// Takes a [`place`](super::line::Line::place).
    Wait,
    /// Goes away, as somebody here writes.
    Busy,
    /// Asks the server past the gate, as only the server knows.
    Alone,
}

/// What becomes of a hold that a task has left.
#[derive(Debug)]
pub(super) enum Left<W> {
    /// Others stand on it.
    Stays,
    /// It is this waiter's from this moment on.
    PassedOn(W, BootInstant),
    /// It is this waiter's if the server allows another slice.
    SliceOver(W, BootInstant),
    /// It goes back to the server, and this waiter leads now.
    GoesBack(Option<W>),
}

/// Whom a granted hold lets go on.
#[derive(Debug)]
pub(super) struct Admitted<W> {
    /// They share the hold.
    pub(super) readers: Vec<W>,
    /// This one leads now.
    pub(super) leader: Option<W>,
}
