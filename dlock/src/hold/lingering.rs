//! What a hold has that its process may keep for its next task: which tokens it may use without the server, and whether
//! others want the lock.

use std::fmt;
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::BootInstant;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::token::{FencingToken, ServerToken};

/// The part of a hold that only one that may linger has.
///
/// A server names its time in microseconds as a token. The next token that it names is larger than what it named last and the time
/// since then, as far as its clock and this one run at the same rate: it is granted when this hold has been released, which tells
/// the tokens that were used, or when the hold has ended by the server's clock. `DESIGN.md` has the argument.
pub(crate) struct Lingering {
    /// The last token that the server named, and when this client heard of it (boot clock, ns).
    named: AtomicU64,
    named_at: AtomicU64,
    /// Whether others want the lock, and the task that watches this hold has not acted upon it.
    wanted: AtomicBool,
    /// Whether no task uses it.
    idle: AtomicBool,
    /// Wakes the task that watches this hold.
    pub(crate) changed: Notify,
}

impl Lingering {
    pub(super) fn new(named: ServerToken, now: BootInstant) -> Self {
        Self {
            named: AtomicU64::new(named.as_u64()),
            named_at: AtomicU64::new(now.as_nanos()),
            wanted: AtomicBool::new(false),
            idle: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    pub(super) fn named(&self) -> ServerToken {
        ServerToken::new(self.named.load(Ordering::Acquire))
    }

    /// The server has named a fresh token.
    pub(super) fn raise(&self, named: ServerToken, now: BootInstant) {
        // In this order: a time that is too late permits less.
        self.named_at.store(now.as_nanos(), Ordering::Release);
        self.named.store(named.as_u64(), Ordering::Release);
    }

    /// Whether the token behind the last one may be used: it belongs to what the server named, or to what it would name now
    /// if its clock ran a hundredth slower than this one.
    pub(super) fn has_token_behind(&self, last: FencingToken, now: BootInstant) -> bool {
        let next = ServerToken::behind(FencingToken::from_u64(last.as_u64() + 1));
        may_use(next, self.named(), || {
            let named_at = self.named_at.load(Ordering::Acquire);
            now.since(BootInstant::from_nanos(named_at))
        })
    }

    /// Up to which token of the server's tokens were used, if the server did not name it.
    pub(super) fn spent(&self, last: FencingToken) -> Option<ServerToken> {
        let last = ServerToken::behind(last);
        (last > self.named()).then_some(last)
    }

    pub(super) fn set_idle(&self, idle: bool) {
        self.idle.store(idle, Ordering::Release);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.idle.load(Ordering::Acquire)
    }

    /// The server says that others want the lock.
    pub(super) fn want(&self) {
        self.wanted.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Whether the server has said since the last call that others want the lock.
    pub(crate) fn take_wanted(&self) -> bool {
        self.wanted.swap(false, Ordering::AcqRel)
    }
}

/// Whether tokens may be used that belong to `next`, if the server named `named` so long ago.
fn may_use(next: ServerToken, named: ServerToken, since: impl FnOnce() -> Duration) -> bool {
    let (next, named) = (next.as_u64(), named.as_u64());
    if next <= named {
        return true;
    }
    let since = u64::try_from(since().as_micros()).unwrap_or(u64::MAX);
    next < named + since - since.div_ceil(100)
}

impl fmt::Debug for Lingering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lingering")
            .field("named", &self.named())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::may_use;
    use crate::token::ServerToken;

    #[test]
    fn tokens_last_until_what_the_server_named_and_then_as_long_as_time_goes_on() {
        let named = 1_000_000;
        let may_use = |token, passed| {
            let since = || Duration::from_micros(passed);
            may_use(ServerToken::new(token), ServerToken::new(named), since)
        };
        assert!(may_use(named, 0));
        assert!(!may_use(named + 1, 0));
        // A server's clock may be a hundredth slower.
        assert!(may_use(named + 989, 1000));
        assert!(!may_use(named + 990, 1000));
    }
}
