//! Clients of dlock pass a mutex on among themselves, and leave it free for a moment now and then, in which they do not take it
//! by a script: then others, who poll, get in.

use memchr::memmem;

use super::Judges;
use super::home::is_foreign;
use super::others::{Before, Hold};
use super::patience::Waiting;
use crate::engine::{Engine, MS, Nanos, SECOND};

/// For how long they may pass it on: five seconds, and what clocks may differ by.
const MOST: Nanos = 5 * SECOND + 50 * MS;

/// For how long a program without dlock may look in vain: moments are missed, and taken by those who come anew.
const PATIENCE: Nanos = 40 * SECOND;

/// A client that has it for longer keeps others out by that, and not by hand-overs: it waits for one more, which is not released.
const LONG: Nanos = 5 * SECOND;

/// Since when each mutex has gone from one of them to the next, since when the last of them has it, and when a program without
/// dlock had it, or it was held for long.
#[derive(Debug)]
pub(super) struct Moments {
    passed_on: Vec<Option<Nanos>>,
    held: Vec<Option<Nanos>>,
    others: Vec<Nanos>,
}

impl Moments {
    pub(super) fn new(locks: usize) -> Self {
        Self {
            passed_on: vec![None; locks],
            held: vec![None; locks],
            others: vec![0; locks],
        }
    }

    /// The holder of a mutex has had it for long.
    fn is_long(&self, now: Nanos, lock: usize) -> bool {
        self.held[lock].is_some_and(|since| now > since + LONG)
    }
}

impl Judges {
    /// A program without dlock has polled since then.
    pub(super) fn look_at_others_wait(&self, engine: &Engine, begun: Nanos, waiting: &Waiting) {
        let now = engine.now();
        let moments = self.moments.borrow();
        let had = |lock: &usize| {
            if moments.is_long(now, *lock) {
                now
            } else {
                moments.others[*lock]
            }
        };
        let last = waiting.locks.iter().map(had).max().unwrap_or(0);
        let since = last.max(begun).max(engine.runs_since(waiting.of));
        if now > since + PATIENCE && self.is_unharmed(now, PATIENCE) {
            let story = format!(
                "{} looks in vain for {} ms",
                waiting.name(),
                (now - since) / MS
            );
            self.object("kept out", now, story);
        }
    }

    /// A request about a mutex has been carried out.
    pub(super) fn look_at_moment(
        &self,
        engine: &Engine,
        before: &Before,
        after: Option<&Hold>,
        request: &[u8],
    ) {
        let (now, lock) = (engine.now(), before.lock);
        let mut moments = self.moments.borrow_mut();
        if !before.is_remembered {
            moments.passed_on[lock] = None;
        }
        let ids = (before.hold.as_ref(), after);
        if let (_, Some(hold)) | (Some(hold), _) = ids
            && is_foreign(&hold.id)
        {
            moments.others[lock] = now;
        }
        if ids.0.map(|hold| &hold.id) != ids.1.map(|hold| &hold.id) {
            if moments.is_long(now, lock) {
                moments.others[lock] = now;
            }
            moments.held[lock] = after.map(|_| now);
        }
        let (was, is) = match ids {
            (Some(was), Some(is)) if !is_foreign(&was.id) && !is_foreign(&is.id) => (was, is),
            _ => {
                moments.passed_on[lock] = None;
                let taken = after.is_some_and(|hold| !is_foreign(&hold.id));
                if before.is_moment && taken && self.is_aware(lock, request) {
                    let story = format!("mutex {lock} was taken by a script in a free moment");
                    self.object("moments", now, story);
                }
                return;
            }
        };
        if was.id == is.id {
            return;
        }
        let since = *moments.passed_on[lock].get_or_insert(now);
        if now > since + MOST && self.is_unharmed(since, 0) && self.is_unharmed(now, MOST) {
            let story = format!(
                "mutex {lock} has been passed on for {} ms and was never left free",
                (now - since) / MS
            );
            self.object("moments", now, story);
        }
    }

    /// Whether a request is a script that is told what stands beside the mutex.
    fn is_aware(&self, lock: usize, request: &[u8]) -> bool {
        let script = memmem::find(&request[..request.len().min(20)], b"EVAL").is_some();
        script && self.homes[lock].names_hash(request)
    }
}
