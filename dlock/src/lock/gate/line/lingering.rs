//! The hold that a process keeps although no task uses it: it is the line's current one, with no share.

use super::{AsHold, Current, Line, Way};
use crate::clock::BootInstant;
use crate::hold::Terms;

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
    pub(in crate::lock::gate) fn take_lingering(&mut self) -> Option<H> {
        let current = self.current.take_if(|current| current.shares == 0)?;
        self.former.push((current.hold.clone(), 1));
        Some(current.hold)
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

    /// The hold, if it has lingered for as long as it may, is to be given back.
    #[must_use]
    pub(in crate::lock::gate) fn has_lingered(&mut self, hold: &H, now: BootInstant) -> Option<H> {
        let current = self.current.as_ref()?;
        let linger = current.hold.terms().linger.unwrap_or_default();
        let over = current.hold.is(hold) && now.since(current.idle_since) >= linger;
        over.then(|| self.take_lingering()).flatten()
    }

    /// How much the hold is used; `None` if no new task can get it.
    pub(in crate::lock::gate) fn usage(&self, hold: &H) -> Option<Usage> {
        let current = self.current.as_ref()?;
        current.hold.is(hold).then(|| Usage {
            uses: current.uses,
            idle_since: (current.shares == 0).then_some(current.idle_since),
        })
    }
}

/// How much a hold that may linger is used.
#[derive(Clone, Copy, Debug)]
pub(in crate::lock::gate) struct Usage {
    /// How often a task got it; begins anew at the end.
    pub(in crate::lock::gate) uses: u32,
    /// Since when no task uses it, if none does.
    pub(in crate::lock::gate) idle_since: Option<BootInstant>,
}

/// What becomes of a hold for which other clients ask.
#[derive(Debug)]
pub(in crate::lock::gate) struct Wanted<H> {
    /// The hold, if it lingered: it is to be given back.
    pub(in crate::lock::gate) idle: Option<H>,
}
