//! The requests that are under way on a connection, and the reply that is being read.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Instant;

/// From how many requests under way on, writing waits for more: fewer tasks have little to gain, and
/// would pay with a turn through the scheduler.
const CROWD: usize = 4;

/// How many bytes may come without a whole reply or push among them, which sets a limit to what a server can make
/// a client keep. The longest that locks need is a cluster's map of slots: 5 MB if every slot is a range of its own.
const LONGEST: usize = 8 << 20;

/// How many times as long a silence that was overcome is remembered.
const PASSES: u64 = 8;

/// One turn of the driver, in the number that counts both.
const TURN: u64 = 1 << 32;

/// The traffic of a connection.
#[derive(Debug, Clone)]
pub(super) struct UnderWay(Arc<Traffic>);

/// What to do when a connection is silent for long. Returns whether the connection is still in use.
struct OnSilence(Box<dyn Fn() -> bool + Send + Sync>);

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
    /// Since when the connection is in doubt, in ms after `born`, plus one; 0 once something comes.
    doubted: AtomicU64,
    /// For how long the connection was in doubt last, although the server was only slow, in ms. Passes with time.
    overcome: AtomicU64,
    /// Whether no answers are to be expected any more.
    is_given_up: AtomicBool,
    given_up: Notify,
    on_silence: OnSilence,
}

impl Traffic {
    /// In ms after `born`.
    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }
}

impl UnderWay {
    pub(super) fn new(on_silence: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(Traffic {
            requests: AtomicU64::new(0),
            unfinished: AtomicUsize::new(0),
            born: Instant::now(),
            heard: AtomicU64::new(0),
            doubted: AtomicU64::new(0),
            overcome: AtomicU64::new(0),
            is_given_up: AtomicBool::new(false),
            given_up: Notify::new(),
            on_silence: OnSilence(Box::new(on_silence)),
        }))
    }

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
        let heard = self.0.now();
        let overcome = self.0.overcome.load(Ordering::Relaxed);
        if self.is_doubted() {
            let since = self.0.doubted.swap(0, Ordering::Relaxed);
            let overcome = (heard + 1).saturating_sub(since);
            self.0.overcome.store(overcome, Ordering::Relaxed);
        } else if overcome > 0 {
            let before = self.0.heard.load(Ordering::Relaxed);
            let passed = heard.saturating_sub(before).div_ceil(PASSES);
            let overcome = overcome.saturating_sub(passed);
            self.0.overcome.store(overcome, Ordering::Relaxed);
        }
        self.0.heard.store(heard, Ordering::Relaxed);
        let before = self.0.unfinished.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > LONGEST {
            let endless = "the reply exceeds 8 MB";
            return Err(io::Error::new(io::ErrorKind::InvalidData, endless));
        }
        Ok(())
    }

    /// Whether something has come within most of the time that an answer may take.
    pub(super) fn was_heard(&self, longest: Duration) -> bool {
        self.silence() < longest * 3 / 4
    }

    /// Whether nothing has come for most of the time that an answer may take: for longer, up to four times as long, at a
    /// server that was as slow a short time ago.
    pub(super) fn is_silent(&self, longest: Duration) -> bool {
        let overcome = Duration::from_millis(self.0.overcome.load(Ordering::Relaxed));
        self.silence() >= (longest * 3 / 4 + 2 * overcome).min(4 * longest)
    }

    fn silence(&self) -> Duration {
        let heard = self.0.heard.load(Ordering::Relaxed);
        Duration::from_millis(self.0.now().saturating_sub(heard))
    }

    /// The connection may be dead, unless something comes.
    pub(super) fn doubt(&self) {
        if !self.is_doubted() {
            let now = self.0.now() + 1;
            self.0.doubted.store(now, Ordering::Relaxed);
        }
    }

    pub(super) fn is_doubted(&self) -> bool {
        self.0.doubted.load(Ordering::Relaxed) != 0
    }

    /// Requests that are late are not to wait any longer.
    pub(super) fn give_up(&self) {
        self.0.is_given_up.store(true, Ordering::Relaxed);
        self.0.given_up.notify_waiters();
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

    /// Whether its connection may be dead.
    pub(super) fn is_doubted(&self) -> bool {
        self.under_way.is_doubted()
    }

    /// Has the connection looked after if nothing comes over it. After how long to look again: of very many requests each
    /// looks seldom.
    pub(super) fn look(&self, longest: Duration) -> Duration {
        let traffic = &self.under_way.0;
        if self.under_way.is_silent(longest) && !(traffic.on_silence.0)() {
            self.under_way.give_up();
        }
        let many = u32::try_from(self.under_way.count() / CROWD).unwrap_or(u32::MAX);
        (longest / 4).saturating_mul(many.max(1)).min(2 * longest)
    }

    /// Completes once no answer is to be expected any more.
    pub(super) async fn given_up(&self) {
        let traffic = &self.under_way.0;
        // Before the look, so that no notice is missed.
        let given_up = traffic.given_up.notified();
        if !traffic.is_given_up.load(Ordering::Relaxed) {
            given_up.await;
        }
    }

    /// Its reply is complete.
    pub(super) fn answered(&self) {
        self.under_way.whole();
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.under_way.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for OnSilence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnSilence").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, UnderWay};

    #[test]
    fn only_what_comes_without_a_whole_reply_is_limited() {
        let under_way = UnderWay::new(|| true);
        for _ in 0..10 {
            under_way.read(LONGEST).expect("no longer than allowed");
            under_way.enter().answered();
        }
        under_way.read(LONGEST).expect("no longer than allowed");
        drop(under_way.enter());
        assert!(under_way.read(1).is_err(), "one was given up, not answered");
    }
}
