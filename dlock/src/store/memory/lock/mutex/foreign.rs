//! Programs without dlock, which know no line and poll: what they do to a mutex, and when it is left free for them.

use std::time::Duration;

use super::Mutex;
use super::string::{Held, Value};
use crate::protocol::whole_millis;
use crate::store::memory::lock::state::after;

impl Mutex {
    /// What another program does: takes the mutex if it is free. Whether it has it now.
    pub(in crate::store::memory) fn take(
        &mut self,
        value: &str,
        lease: Option<Duration>,
        time: u64,
    ) -> bool {
        self.held = self.held.take().filter(|held| !held.is_over(time));
        let free = self.held.is_none();
        if free {
            let value = Value::read(value);
            let until = lease.map(|lease| after(time, whole_millis(lease)) / 1000);
            self.held = Some(Held { value, until });
        }
        free
    }

    /// What another program does: frees the mutex if it has it. Whether it had.
    pub(in crate::store::memory) fn free(&mut self, value: &str, time: u64) -> bool {
        let value = Value::read(value);
        let had = self.held.take_if(|held| held.value == value);
        had.is_some_and(|held| !held.is_over(time))
    }

    /// The holder: the value, and the rest of its time in milliseconds, if it ends.
    pub(in crate::store::memory) fn holder(&self, time: u64) -> Option<(String, Option<u64>)> {
        let held = self.held.as_ref().filter(|held| !held.is_over(time))?;
        let left = held.until.map(|until| until - time / 1000);
        Some((held.value.to_string(), left))
    }
}

/// How long a moment is for which a mutex is left free, in µs.
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
