//! The requests that are under way on a connection, and the reply that is being read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::clock::Instant;

/// From how many requests under way on, writing waits for more: fewer tasks have little to gain, and
/// would pay with a turn through the scheduler.
const CROWD: usize = 4;

/// How many bytes may come without a whole reply or push among them, which sets a limit to what a server can make
/// a client keep. The longest that locks need is a cluster's map of slots: 5 MB if every slot is a range of its own.
const LONGEST: usize = 8 << 20;

/// One turn of the driver, in the number that counts both.
const TURN: u64 = 1 << 32;

/// The traffic of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct UnderWay(Arc<Traffic>);

#[derive(Debug)]
struct Traffic {
    /// The number of requests under way, and above it how often the connection's driver has run. One number, so that a
    /// request that counts itself learns the other on the way.
    requests: AtomicU64,
    /// Bytes read since the last whole reply or push.
    unfinished: AtomicUsize,
    born: Instant,
    /// When bytes came last, in ms after `born`.
    heard: AtomicU64,
    /// How long answers take, in ms: the slowest of those that came of late.
    slowest: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            requests: AtomicU64::new(0),
            unfinished: AtomicUsize::new(0),
            born: Instant::now(),
            heard: AtomicU64::new(0),
            slowest: AtomicU64::new(0),
        }
    }
}

impl UnderWay {
    /// One more, until the result is dropped.
    pub(super) fn enter(&self) -> Entered<'_> {
        let before = self.0.requests.fetch_add(1, Ordering::Relaxed);
        Entered {
            under_way: self,
            turns: before / TURN,
        }
    }

    /// The driver runs.
    pub(super) fn run(&self) {
        self.0.requests.fetch_add(TURN, Ordering::Relaxed);
    }

    pub(super) fn count(&self) -> usize {
        usize::try_from(self.0.requests.load(Ordering::Relaxed) % TURN).unwrap_or(usize::MAX)
    }

    pub(super) fn is_crowd(&self) -> bool {
        self.count() >= CROWD
    }

    /// So many bytes have come; an error if that is no reply any more.
    pub(super) fn read(&self, bytes: usize) -> io::Result<()> {
        let heard = u64::try_from(self.0.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.heard.store(heard, Ordering::Relaxed);
        let before = self.0.unfinished.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > LONGEST {
            let endless = "the reply exceeds 8 MB";
            return Err(io::Error::new(io::ErrorKind::InvalidData, endless));
        }
        Ok(())
    }

    /// Whether nothing has come for most of the time that an answer may take, nor for twice as long as answers took of late,
    /// `at_most`. A server that sends something is only slow: as it answers in order, an answer is still to come. With few
    /// requests under way, such a server sends nothing for as long as it takes to answer.
    pub(super) fn is_silent(&self, longest: Duration, at_most: Duration) -> bool {
        let [heard, slowest] = [&self.0.heard, &self.0.slowest]
            .map(|millis| Duration::from_millis(millis.load(Ordering::Relaxed)));
        let patience = (longest * 3 / 4).max(at_most.min(2 * slowest));
        self.0.born.elapsed().saturating_sub(heard) >= patience
    }

    /// An answer has come to a request that left at `sent`. Counted to when bytes came last, not to now: the future that waits
    /// for it may be polled later.
    pub(super) fn took(&self, sent: Instant) {
        let heard = self.0.heard.load(Ordering::Relaxed);
        let sent = (sent - self.0.born).as_millis();
        let took = heard.saturating_sub(u64::try_from(sent).unwrap_or(u64::MAX));
        let slowest = self.0.slowest.load(Ordering::Relaxed);
        if took != slowest {
            let slowest = took.max(slowest - slowest.div_ceil(8));
            self.0.slowest.store(slowest, Ordering::Relaxed);
        }
    }

    /// A reply or a push is complete.
    pub(super) fn whole(&self) {
        // Mostly one of several that came together.
        if self.0.unfinished.load(Ordering::Relaxed) != 0 {
            self.0.unfinished.store(0, Ordering::Relaxed);
        }
    }
}

/// One request under way.
#[derive(Debug)]
#[must_use = "dropping it ends the request"]
pub(super) struct Entered<'a> {
    under_way: &'a UnderWay,
    turns: u64,
}

impl Entered<'_> {
    /// Whether the driver has run since.
    pub(super) fn is_seen(&self) -> bool {
        self.under_way.0.requests.load(Ordering::Relaxed) / TURN != self.turns
    }

    /// Whether the server is, and not only slow.
    pub(super) fn is_silent(&self, longest: Duration, at_most: Duration) -> bool {
        self.under_way.is_silent(longest, at_most)
    }

    /// Its reply is complete.
    pub(super) fn answered(&self, sent: Instant) {
        self.under_way.whole();
        self.under_way.took(sent);
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.under_way.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, UnderWay};
    use crate::clock::Instant;

    #[test]
    fn only_what_comes_without_a_whole_reply_is_limited() {
        let under_way = UnderWay::default();
        for _ in 0..10 {
            under_way.read(LONGEST).expect("no longer than allowed");
            under_way.enter().answered(Instant::now());
        }
        under_way.read(LONGEST).expect("no longer than allowed");
        drop(under_way.enter());
        assert!(under_way.read(1).is_err(), "one was given up, not answered");
    }
}
