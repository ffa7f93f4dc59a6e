//! What is under way on a connection: requests, and the reply that is being read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From how many requests under way on, writing waits for more: fewer tasks have little to gain, and
/// would pay with a turn through the scheduler.
const CROWD: usize = 4;

/// How many bytes may come without a whole reply or push among them, which sets a limit to what a server can make
/// a client keep. The longest that locks need is a cluster's map of slots: 5 MB if every slot is a range of its own.
const LONGEST: usize = 8 << 20;

/// The traffic of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct UnderWay(Arc<Traffic>);

#[derive(Debug, Default)]
struct Traffic {
    requests: AtomicUsize,
    /// Bytes read since the last whole reply or push.
    unfinished: AtomicUsize,
}

impl UnderWay {
    /// One more, until the result is dropped.
    pub(super) fn enter(&self) -> Entered<'_> {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        Entered(self)
    }

    pub(super) fn count(&self) -> usize {
        self.0.requests.load(Ordering::Relaxed)
    }

    pub(super) fn is_crowd(&self) -> bool {
        self.count() >= CROWD
    }

    /// So many bytes have come; an error if that is no reply any more.
    pub(super) fn read(&self, bytes: usize) -> io::Result<()> {
        let before = self.0.unfinished.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > LONGEST {
            let endless = "a reply goes on beyond 8 MB, which none for a lock does";
            return Err(io::Error::new(io::ErrorKind::InvalidData, endless));
        }
        Ok(())
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
pub(super) struct Entered<'a>(&'a UnderWay);

impl Entered<'_> {
    /// Its reply is complete.
    pub(super) fn answered(&self) {
        self.0.whole();
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, UnderWay};

    #[test]
    fn only_what_comes_without_a_whole_reply_is_limited() {
        let under_way = UnderWay::default();
        for _ in 0..10 {
            under_way.read(LONGEST).expect("no longer than allowed");
            under_way.enter().answered();
        }
        under_way.read(LONGEST).expect("no longer than allowed");
        drop(under_way.enter());
        assert!(under_way.read(1).is_err(), "one was given up, not answered");
    }
}
