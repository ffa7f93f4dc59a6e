//! When a mutex is left free for clients that know no line and poll.

/// How long such a moment is, in µs.
const FREE: u64 = 150_000;
/// How far they are apart while others are about, and at most.
const LEAST: u64 = 50_000;
const MOST: u64 = 5_000_000;

/// The last such moment, and when the next is due. Times are the server's.
#[derive(Debug, Default)]
pub(super) struct Moments {
    until: Option<u64>,
    /// Since when clients of dlock have had the mutex without leaving it free.
    since: Option<u64>,
    /// For how long they may.
    budget: Option<u64>,
}

impl Moments {
    /// All that is noted.
    pub(super) fn times(&self) -> [Option<u64>; 3] {
        [self.until, self.since, self.budget]
    }

    /// Until when it is left free, if that is now.
    pub(super) fn free_until(&self, real: u64) -> Option<u64> {
        let now = |until: &u64| *until > real && *until <= real + FREE;
        self.until.filter(now)
    }

    /// Somebody waits.
    pub(super) fn begin(&mut self, real: u64) {
        self.since.get_or_insert(real);
    }

    /// Somebody has it who knows no line.
    pub(super) fn note_foreign(&mut self, real: u64) {
        self.budget = Some(LEAST);
        self.since = Some(real);
    }

    /// Whether the next one in line may have it. If not, a moment begins.
    pub(super) fn let_in(&mut self, real: u64) -> bool {
        let (since, budget) = (self.since.unwrap_or(real), self.budget.unwrap_or(MOST));
        let open = since <= real && real - since < budget;
        if !open {
            self.until = Some(real + FREE);
            self.since = self.until;
            self.budget = Some((2 * budget).min(MOST));
        }
        open
    }
}
