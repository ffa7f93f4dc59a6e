//! What a gate decides: events in, decisions out. It knows no server, no channel and no mutex. A slice says for how long a hold
//! stays inside a process.

mod lingering;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::BootInstant;
use crate::error::Error;
use crate::hold::Terms;
use crate::kind::LockMode;
use crate::token::FencingToken;

pub(super) use lingering::Usage;

/// One lock's line of tasks, and the hold they stand on or wait for. `H` is a hold, `W` whatever reaches a waiter.
///
/// A task that was granted the lock or leads is out of the line, and reports back once: with [`left`](Self::left) for each
/// share of a hold, with one of [`hold_granted`](Self::hold_granted), [`slice_granted`](Self::slice_granted),
/// [`gave_up`](Self::gave_up) and [`refused`](Self::refused) for the lead.
#[derive(Clone, Debug)]
pub(super) struct Line<H, W> {
    /// The hold that others may join or take over.
    current: Option<Current<H>>,
    /// Holds that no further task can get, and how many tasks still use each.
    former: Vec<(H, u32)>,
    /// Whether a task asks the server.
    led: bool,
    /// Why no server serves the lock, as far as known.
    trouble: Option<Error>,
    /// Since when this process has had the lock, from task to task, and not left it to others for a while.
    since: Option<BootInstant>,
    waiting: BTreeMap<u64, Waiter<W>>,
}

#[derive(Clone, Debug)]
struct Current<H> {
    hold: H,
    /// How many tasks use it; 0 while it lingers.
    shares: u32,
    slice: Slice,
    /// Whether other clients want the lock, as far as is known. Only asked of a hold that may linger.
    wanted: bool,
    /// How often a task got it, and when it began to linger last.
    uses: u32,
    idle_since: BootInstant,
}

impl<H: AsHold> Current<H> {
    /// The hold goes to one more task.
    fn count(&mut self) {
        self.slice.count();
        self.uses = self.uses.wrapping_add(1);
    }

    /// Whether it may go to the next task without a request to the server.
    fn is_open(&self, now: BootInstant) -> bool {
        self.slice.is_open(now) || self.hold.terms().linger.is_some() && !self.wanted
    }
}

#[derive(Clone, Debug)]
struct Waiter<W> {
    terms: Terms,
    handle: W,
}

impl<H, W> Default for Line<H, W> {
    fn default() -> Self {
        Self {
            current: None,
            former: Vec::new(),
            led: false,
            trouble: None,
            since: None,
            waiting: BTreeMap::new(),
        }
    }
}

impl<H: AsHold, W> Line<H, W> {
    /// Whether nothing is known that the next one would not find out.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.former.is_empty() && !self.led && self.waiting.is_empty()
    }

    /// A task wants the lock. The clock is read only where it matters.
    #[must_use]
    pub(super) fn enter(
        &mut self,
        terms: Terms,
        may_wait: bool,
        clock: impl FnOnce() -> BootInstant,
    ) -> Way<H> {
        let writing = self.is_written();
        let open = !self.led && self.waiting.is_empty() && !writing;
        if !open {
            return match (may_wait, writing) {
                (true, _) => Way::Wait,
                (false, true) => Way::Busy,
                (false, false) => Way::Alone,
            };
        }
        if self.lingers() {
            return self.take_over(terms, clock());
        }
        let mut own = None;
        if let Some(current) = &mut self.current
            && terms.shareable()
            && current.hold.terms() == terms
        {
            let now = clock();
            if current.hold.is_healthy(now) {
                current.shares += 1;
                current.count();
                if current.is_open(now) {
                    return Way::Join(current.hold.clone());
                }
                own = Some(current.hold.clone());
            }
        }
        // Behind other readers, too: to have a place on the server now.
        self.led = true;
        Way::Lead(own)
    }

    /// Stands in line from now on. The number, larger than those before, is for [`cancel`](Self::cancel).
    pub(super) fn place(&mut self, number: u64, terms: Terms, handle: W) {
        self.waiting.insert(number, Waiter { terms, handle });
    }

    /// No server serves the lock, for this reason, or one does again.
    pub(super) fn set_trouble(&mut self, trouble: Option<Error>) {
        self.trouble = trouble;
    }

    pub(super) fn trouble(&self) -> Option<&Error> {
        self.trouble.as_ref()
    }

    /// A task in the line went away.
    pub(super) fn cancel(&mut self, place: u64) {
        self.waiting.remove(&place);
    }

    /// A task is done with its share of a hold.
    #[must_use]
    pub(super) fn left(
        &mut self,
        hold: &H,
        may_linger: bool,
        clock: impl Fn() -> BootInstant,
    ) -> Left<W> {
        let Some(mut current) = self.current.take_if(|current| current.hold.is(hold)) else {
            return self.left_former(hold);
        };
        current.shares -= 1;
        if current.shares > 0 {
            self.current = Some(current);
            return Left::Stays;
        }
        if let Some((waiter, now)) = self.next_writer(&current, &clock) {
            return self.pass_on(current, waiter, now);
        }
        let unwanted = !(current.wanted || self.led) && self.waiting.is_empty();
        if may_linger && unwanted && current.hold.terms().linger.is_some() {
            let now = clock();
            if current.hold.is_healthy(now) {
                current.idle_since = now;
                self.current = Some(current);
                return Left::Lingers;
            }
        }
        Left::GoesBack(self.appoint())
    }

    fn left_former(&mut self, hold: &H) -> Left<W> {
        let Some(at) = self.former.iter().position(|(former, _)| former.is(hold)) else {
            return Left::GoesBack(None);
        };
        self.former[at].1 -= 1;
        if self.former[at].1 > 0 {
            return Left::Stays;
        }
        self.former.swap_remove(at);
        Left::GoesBack(None)
    }

    /// The first in line, if that may have the write hold that is left.
    fn next_writer(
        &mut self,
        current: &Current<H>,
        clock: impl Fn() -> BootInstant,
    ) -> Option<(W, BootInstant)> {
        let terms = current.hold.terms();
        if !terms.may_be_passed_on() || self.led {
            return None;
        }
        let first = self.waiting.first_entry()?;
        if first.get().terms != terms {
            return None;
        }
        let now = clock();
        (current.hold.is_healthy(now)).then(|| (first.remove().handle, now))
    }

    fn pass_on(&mut self, mut current: Current<H>, waiter: W, now: BootInstant) -> Left<W> {
        current.shares = 1;
        if current.is_open(now) {
            current.count();
            self.current = Some(current);
            Left::PassedOn(waiter, now)
        } else {
            self.led = true;
            self.former.push((current.hold, current.shares));
            Left::SliceOver(waiter, now)
        }
    }

    /// The server granted a hold to the leading task.
    #[must_use]
    pub(super) fn hold_granted(&mut self, hold: H, wanted: bool, now: BootInstant) -> Admitted<W> {
        self.retire();
        self.stand_on(hold, 1, wanted, now)
    }

    /// The server lets the leading task go on with a hold.
    #[must_use]
    pub(super) fn slice_granted(&mut self, hold: &H, now: BootInstant) -> Admitted<W> {
        self.retire();
        let at = self.former.iter().position(|(former, _)| former.is(hold));
        match at.map(|at| self.former.swap_remove(at)) {
            Some((hold, shares)) => self.stand_on(hold, shares, false, now),
            None => self.stand_on(hold.clone(), 1, false, now),
        }
    }

    fn stand_on(&mut self, hold: H, shares: u32, wanted: bool, now: BootInstant) -> Admitted<W> {
        self.led = false;
        self.trouble = None;
        self.since.get_or_insert(now);
        self.current = Some(Current {
            hold,
            shares,
            slice: Slice::new(now),
            wanted,
            uses: 0,
            idle_since: now,
        });
        Admitted {
            readers: self.admit_readers(),
            leader: self.appoint(),
        }
    }

    /// Every waiting reader who may share the current hold, wherever in the line.
    fn admit_readers(&mut self) -> Vec<W> {
        let Some(current) = &mut self.current else {
            return Vec::new();
        };
        let terms = current.hold.terms();
        if !terms.shareable() {
            return Vec::new();
        }
        let alike = |(place, waiter): (&u64, &Waiter<W>)| (waiter.terms == terms).then_some(*place);
        let places: Vec<u64> = self.waiting.iter().filter_map(alike).collect();
        let mut readers = Vec::with_capacity(places.len());
        for place in places {
            if let Some(reader) = self.waiting.remove(&place) {
                current.shares += 1;
                current.count();
                readers.push(reader.handle);
            }
        }
        readers
    }

    /// The leading task ends without a hold. The next one leads.
    #[must_use]
    pub(super) fn gave_up(&mut self) -> Option<W> {
        self.led = false;
        self.appoint()
    }

    /// The leading task was refused, for a reason that applies to all returned tasks.
    #[must_use]
    pub(super) fn refused(&mut self) -> Vec<W> {
        self.led = false;
        self.close()
    }

    /// A hold was lost: no task waits for it any more. The next one leads.
    #[must_use]
    pub(super) fn lost(&mut self, hold: &H) -> Option<W> {
        if !(self.current.as_ref()).is_some_and(|current| current.hold.is(hold)) {
            return None;
        }
        self.retire();
        self.appoint()
    }

    /// No task may wait any more.
    #[must_use]
    pub(super) fn close(&mut self) -> Vec<W> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_values().map(|waiter| waiter.handle).collect()
    }

    /// Takes the current hold out of reach of new tasks.
    fn retire(&mut self) {
        if let Some(current) = self.current.take()
            && current.shares > 0
        {
            self.former.push((current.hold, current.shares));
        }
    }

    /// Has the first in line lead, unless a task leads already or the hold is still to be handed over.
    fn appoint(&mut self) -> Option<W> {
        if self.led || self.is_written() {
            return None;
        }
        let (_, first) = self.waiting.pop_first()?;
        self.led = true;
        Some(first.handle)
    }

    fn is_written(&self) -> bool {
        let writes = |current: &Current<H>| {
            current.shares > 0 && current.hold.terms().mode == LockMode::Write
        };
        self.current.as_ref().is_some_and(writes)
    }

    /// For how long this process has had the lock, from task to task.
    pub(super) fn had_for(&self, now: BootInstant) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The process leaves the lock to others for a while.
    pub(super) fn steps_aside(&mut self) {
        self.since = None;
    }
}

/// What a line has to know of a hold.
pub(super) trait AsHold: Clone {
    /// Whether both are the same.
    fn is(&self, other: &Self) -> bool;
    fn terms(&self) -> Terms;
    /// Whether it is worth joining or passing on.
    fn is_healthy(&self, now: BootInstant) -> bool;
}

/// What a new task does.
#[derive(Debug)]
pub(super) enum Way<H> {
    /// Shares this hold.
    Join(H),
    /// Gets this hold, which lingered.
    TakeOver(H),
    /// Asks the server: first about this hold, if there is one. Its slice is over, or it lingered with other terms.
    Lead(Option<H>),
    /// Takes a [`place`](Line::place).
    Wait,
    /// Goes away, because a task of this process writes.
    Busy,
    /// Asks the server past the gate, as only the server knows.
    Alone,
}

/// What becomes of a hold that a task has left.
#[derive(Debug)]
pub(super) enum Left<W> {
    /// Others stand on it.
    Stays,
    /// It is this waiter's from this moment on.
    PassedOn(W, BootInstant),
    /// The process keeps it for its next task.
    Lingers,
    /// It is this waiter's if the server allows another slice.
    SliceOver(W, BootInstant),
    /// It goes back to the server, and this waiter leads now.
    GoesBack(Option<W>),
}

/// The tasks that a granted hold lets go on.
#[derive(Debug)]
pub(super) struct Admitted<W> {
    /// They share the hold.
    pub(super) readers: Vec<W>,
    /// This one leads now.
    pub(super) leader: Option<W>,
}

/// For how long and how often a hold is passed on before the server is asked whether another
/// process waits.
const LENGTH: Duration = Duration::from_millis(5);
const COUNT: u32 = 2000;

// Each time takes a token, the one that ends the slice and the first of the next, too.
const _: () = assert!(COUNT as u64 + 2 < FencingToken::EACH);

/// One such time.
#[derive(Debug, Clone)]
struct Slice {
    since: BootInstant,
    passed_on: u32,
}

impl Slice {
    fn new(since: BootInstant) -> Self {
        Self {
            since,
            passed_on: 0,
        }
    }

    /// The hold went to one more task.
    fn count(&mut self) {
        self.passed_on = self.passed_on.saturating_add(1);
    }

    fn is_open(&self, now: BootInstant) -> bool {
        self.passed_on < COUNT && now.since(self.since) < LENGTH
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
