//! When a mutex is left free for clients that know no line and poll.

/// How long such a moment is, in µs.
const FREE: u64 = 150_000;
/// How far they are apart at least, soon after others were seen, and at most.
const LEAST: u64 = 50_000;
const MOST: u64 = 5_000_000;

/// The last such moment, and when the next is due. Times are the server's.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Until when it is, or was if no client of dlock has been let in since.
    until: Option<u64>,
    /// Since when clients of dlock have passed the mutex on without leaving it free.
    since: Option<u64>,
    /// When a program without dlock was last seen to have it.
    seen: Option<u64>,
}

impl Moments {
    /// All that is noted.
    pub(super) fn times(&self) -> [Option<u64>; 3] {
        [self.until, self.since, self.seen]
    }

    /// Until when it is left free, if that is now.
    pub(super) fn free_until(&self, real: u64) -> Option<u64> {
        let now = |until: &u64| *until > real && *until <= real + FREE;
        self.until.filter(now)
    }

    /// A program without dlock has it.
    pub(super) fn note_foreign(&mut self, real: u64) {
        self.seen = Some(real);
        self.since = Some(real);
    }

    /// A client of dlock has taken it by its own look.
    pub(super) fn is_taken(&mut self) {
        self.until = None;
    }

    /// It is free, and no client waits.
    pub(super) fn is_left(&mut self) {
        self.since = None;
    }

    /// Whether the next one in line may have it. If not, a moment begins.
    pub(super) fn let_in(&mut self, real: u64) -> bool {
        let apart = self.apart(real);
        let mut since = *self.since.get_or_insert(real);
        if self.until.take().is_some() {
            // A plain `SET` has taken the last moment: it did not count, and the next one comes soon.
            since = real - apart + LEAST;
            self.since = Some(since);
        }
        let open = since <= real && real - since < apart;
        if !open {
            self.until = Some(real + FREE);
            self.since = self.until;
        }
        open
    }

    /// For how long clients of dlock may pass it on: as long again as others have not been seen.
    fn apart(&self, real: u64) -> u64 {
        match self.seen {
            Some(seen) if seen <= real => (real - seen).clamp(LEAST, MOST),
            _ => MOST,
        }
    }
}
