//! What proves that a message is about this wait.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only the waiter and the lock's record know: who may publish on a waiter's channel, but not read
/// the lock, cannot make it believe that it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nonce(u64);

impl Nonce {
    /// One that nobody can guess, also not from others: a keyed hash (`SipHash`, with a key from the operating system).
    #[must_use]
    pub fn fresh() -> Self {
        static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(KEY.hash_one(NEXT.fetch_add(1, Ordering::Relaxed)))
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
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Nonce;

    #[test]
    fn nonces_differ_and_do_not_show() {
        let (a, b) = (Nonce::fresh(), Nonce::fresh());
        assert_ne!(a, b);
        assert_eq!(Nonce::parse(&a.to_string()), Some(a));
        assert_eq!(format!("{a:?}"), "Nonce(..)");
    }
}
