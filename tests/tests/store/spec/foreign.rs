//! What other programs do to a mutex.

use std::fmt::Write as _;
use std::time::Duration;

use dlock::__internals::{Keys, Op, Reply};
use dlock_tests::Held;

use crate::spec::pair::Pair;
use crate::spec::plan::{Family, Foreign};
use crate::spec::request::Request;

impl Pair<'_> {
    /// Does it to both, and compares.
    pub(crate) fn foreign(&mut self, act: Foreign) -> Result<(), String> {
        let time = self.time();
        if self.kept.is_some_and(|kept| kept <= time) {
            self.forget()?;
            self.stage.clear(&self.key);
        }
        let is_live = |held: &Held| held.is_live(time);
        self.held = self.held.take().filter(is_live);
        writeln!(self.story, "at {time}: {act:?}, held {:?}", self.held).expect("text");
        match (act, self.held.take()) {
            (Foreign::Take { value, lease }, held) => {
                self.specification.take(&self.key, value, lease);
                let until = lease.map(|lease| time / 1000 + whole_millis(lease));
                let value = value.to_owned();
                self.held = held.or(Some(Held {
                    value,
                    marked: false,
                    until,
                }));
            }
            (Foreign::Free, Some(held)) if is_own(&held.value) => self.held = Some(held),
            (_, Some(held)) => {
                self.specification.free(&self.key, &held.value);
            }
            (_, None) => {}
        }
        self.stage.hold(&self.key, self.held.as_ref());
        self.compare_strings()
    }

    /// A holder finds in the string, when it is done, that a client has begun to wait; at once if the mutex was handed
    /// over. (While that is noted, a new waiter does not read the string, which another program may have taken without
    /// the hash.)
    pub(crate) fn is_marked(&self, request: &Request, reply: &Reply) -> Result<(), String> {
        let passed_on = self.passed_on.as_ref();
        let is_passed_on = |held: &Held| passed_on.is_some_and(|(id, _)| *id == held.value);
        let looks = passed_on.is_none_or(|(_, until)| *until <= self.now());
        let waits = looks
            && matches!(reply, Reply::Queued { .. })
            && !self.record.writers.places.is_empty();
        let passes = matches!(request.op, Op::Release { .. }) && *reply == Reply::Done;
        let known = self.of == Family::Mutex && request.keys == Keys::All;
        match &self.held {
            Some(held) if known && is_own(&held.value) && !held.marked => {
                if waits || passes && is_passed_on(held) {
                    return Err(format!("but {held:?} is not marked"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lets the specification have the string that is there.
    pub(crate) fn specify_string(&self) {
        let time = self.time();
        if let Some(held) = self.held.as_ref().filter(|held| held.is_live(time)) {
            let left = held.until.map(|until| until - time / 1000);
            let left = left.map(Duration::from_millis);
            self.specification.take(&self.key, &held.value, left);
        }
    }
}

/// Whether one of the clients of dlock has written it.
pub(crate) fn is_own(value: &str) -> bool {
    value.starts_with("client-") && value.contains("/0000000000000000/")
}

fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_nanos().div_ceil(1_000_000)).expect("a short time")
}
