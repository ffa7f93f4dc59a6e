//! The hold that a process keeps although no task uses it: it is the line's current one, with no share.

use std::time::Duration;

use super::{AsHold, Current, Line, Way};
use crate::clock::BootInstant;
use crate::hold::Terms;
use crate::lease::Millis;

impl<H: AsHold, W> Line<H, W> {
    /// Whether the process keeps a hold that no task uses.
    pub(super) fn lingers(&self) -> bool {
        (self.current.as_ref()).is_some_and(|current| current.shares == 0)
    }

    /// A task wants the lock while a hold lingers: it gets the hold, or has it given back before it asks for another one.
    pub(super) fn take_over(&mut self, terms: Terms, now: BootInstant) -> Way<H> {
        let fits = |current: &mut Current<H>| {
            current.hold.terms() == terms && current.hold.is_healthy(now)
        };
        if let Some(mut current) = self.current.take_if(fits) {
            current.shares = 1;
            current.count();
            let hold = current.hold.clone();
            self.current = Some(current);
            return Way::TakeOver(hold);
        }
        self.led = true;
        Way::Lead(self.take_lingering())
    }

    /// The hold that lingers, if one does, is to be given back: it counts as used until that is [`left`](Self::left).
    #[must_use]
    fn take_lingering(&mut self) -> Option<H> {
        let hold = self.drop_lingering()?;
        self.former.push((hold.clone(), 1));
        Some(hold)
    }

    /// The hold that lingers, if one does, is given back: at the end of the client.
    #[must_use]
    pub(in crate::lock::gate) fn drop_lingering(&mut self) -> Option<H> {
        let current = self.current.take_if(|current| current.shares == 0)?;
        Some(current.hold)
    }

    /// Other clients want the lock, which was not known before. A hold that is used goes back when the last task has left it, or when
    /// the server says so at the end of a slice.
    #[must_use]
    pub(in crate::lock::gate) fn wanted(&mut self, hold: &H) -> Option<Wanted<H>> {
        let current = self.current.as_mut()?;
        if !current.hold.is(hold) || current.wanted {
            return None;
        }
        current.wanted = true;
        Some(Wanted {
            idle: self.take_lingering(),
        })
    }

    /// How the hold is used; `None` if no new task can get it.
    #[must_use]
    pub(in crate::lock::gate) fn usage(&mut self, hold: &H, now: BootInstant) -> Option<Usage<H>> {
        let current = self.current.as_ref()?;
        if !current.hold.is(hold) {
            return None;
        }
        let linger = current.hold.terms().linger;
        let linger = linger.map_or(Duration::ZERO, Millis::span);
        let idle_for = match current.shares {
            0 => now.since(current.idle_since),
            _ => Duration::ZERO,
        };
        let (times, rest) = (current.uses, linger.saturating_sub(idle_for));
        if rest.is_zero() {
            return self.take_lingering().map(Usage::Over);
        }
        Some(Usage::Used { times, rest })
    }
}

/// How a hold that may linger is used.
#[derive(Debug)]
pub(in crate::lock::gate) enum Usage<H> {
    /// A task got it so often (the number begins anew at the end), and it may linger for so long yet.
    Used { times: u32, rest: Duration },
    /// No task has used it for as long as it may linger: it is to be given back.
    Over(H),
}

/// What becomes of a hold for which other clients ask.
#[derive(Debug)]
pub(in crate::lock::gate) struct Wanted<H> {
    /// The hold, if it lingered: it is to be given back.
    pub(in crate::lock::gate) idle: Option<H>,
}
