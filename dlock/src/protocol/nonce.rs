//! What proves that a message is about this wait.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use super::HoldId;
use crate::random::Hashing;

/// A number that only the waiter and the lock's record know: who may publish on a waiter's channel, but not read
/// the lock, cannot make it believe that it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nonce(u64);

impl Nonce {
    /// That of one acquisition. Nobody can guess it, also not from others: it is a keyed hash (`SipHash`, with a key from
    /// the operating system), of which 56 bits do.
    #[must_use]
    pub fn of(hold: &HoldId) -> Self {
        static KEY: LazyLock<Hashing> = LazyLock::new(Hashing::default);
        Self(KEY.hash_one(hold) >> 8)
    }

    /// A given one, for tests.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:014x}", self.0)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::{HoldId, Nonce};

    #[test]
    fn nonces_differ_and_do_not_show() {
        let of = |text| Nonce::of(&HoldId::parse(text).expect("an id"));
        let (a, b) = (of("client/1/1"), of("client/1/2"));
        assert_eq!(of("client/1/1"), a);
        assert_ne!(a, b);
        assert_eq!(Nonce::parse(&a.to_string()), Some(a));
        assert_eq!(format!("{a:?}"), "Nonce(..)");
    }
}
