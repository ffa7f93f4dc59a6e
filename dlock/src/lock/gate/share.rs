//! What a guard stands on: a task's share of a hold.

use std::fmt;
use std::sync::Arc;

use super::Gates;
use crate::clock::BootInstant;
use crate::error::{Error, LossReason};
use crate::hold::Hold;
use crate::metrics::{self, LockMetrics};
use crate::token::FencingToken;
use crate::trace::{Entered, HeldTrace};

/// One task's share of a hold. Dropping it passes the hold on, or queues its release.
#[must_use = "dropping it gives the lock back"]
pub(crate) struct Share {
    gates: Arc<Gates>,
    hold: Arc<Hold>,
    token: FencingToken,
    /// When the task before left, if the hold was passed on.
    pub(super) free_since: BootInstant,
    /// Whether the gate knows the hold; those of explicit owners have one share each.
    gated: bool,
    /// What to report to, since the guard was handed out.
    reports: Option<Reports>,
    left: bool,
    /// Whether the server has yet to hear of the end: dropping this queues the release then.
    owed: bool,
}

/// Where the end is reported.
struct Reports {
    /// Unless they are those of the hold.
    metrics: Option<Arc<LockMetrics>>,
    since: BootInstant,
    trace: HeldTrace,
}

impl Share {
    /// A share that the gate has counted.
    pub(super) fn gated(gates: &Arc<Gates>, hold: Arc<Hold>, token: FencingToken) -> Self {
        Self {
            gates: Arc::clone(gates),
            free_since: hold.granted_at,
            hold,
            token,
            gated: true,
            reports: None,
            left: false,
            owed: false,
        }
    }

    /// The only share of a hold that passed the gate by.
    pub(in crate::lock) fn whole(gates: &Arc<Gates>, hold: Arc<Hold>) -> Self {
        let token = hold.last_token();
        let mut share = Self::gated(gates, hold, token);
        share.gated = false;
        share
    }

    /// From now on a task holds the lock through this.
    pub(in crate::lock) fn report_to(
        &mut self,
        metrics: &Arc<LockMetrics>,
        since: BootInstant,
        trace: HeldTrace,
    ) {
        metrics.hold_began(self.hold.terms.mode);
        let own = Arc::ptr_eq(metrics, &self.hold.metrics);
        self.reports = Some(Reports {
            metrics: (!own).then(|| Arc::clone(metrics)),
            since,
            trace,
        });
    }

    pub(crate) fn hold(&self) -> &Arc<Hold> {
        &self.hold
    }

    /// What this thread does is done under the lock, as traces tell.
    pub(crate) fn enter_trace(&self) -> Option<Entered<'_>> {
        Some(self.reports.as_ref()?.trace.enter())
    }

    pub(crate) fn token(&self) -> FencingToken {
        self.token
    }

    /// When the task before left.
    pub(in crate::lock) fn free_since(&self) -> BootInstant {
        self.free_since
    }

    /// The server has named a fresh token.
    pub(in crate::lock) fn renew_token(&mut self) {
        self.token = self.hold.next_token();
    }

    /// Leaves without a request to the server, which has given the hold to another client.
    pub(in crate::lock) fn yielded(mut self) {
        self.leave();
        self.end();
    }

    pub(crate) async fn release(mut self) -> Result<(), Error> {
        self.release_in_place().await
    }

    /// Releases what is about to be dropped, which does nothing more if this succeeds.
    pub(crate) async fn release_in_place(&mut self) -> Result<(), Error> {
        self.give_back().await.inspect_err(metrics::failed)
    }

    /// [`release_in_place`](Self::release_in_place) without counting errors, because a drop counts none.
    pub(crate) async fn release_unasked(&mut self) {
        if !self.left {
            // If the release is still due then, the drop queues it.
            let _ = self.give_back().await;
        }
    }

    /// Whether a release takes no time.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.gates.keeper().is_at_hand()
    }

    /// Releases what is about to be dropped, if that takes no time; otherwise the drop does.
    pub(crate) fn release_at_once(&mut self) -> Result<(), Error> {
        self.give_back_at_once().inspect_err(metrics::failed)
    }

    fn give_back_at_once(&mut self) -> Result<(), Error> {
        if !self.part()? {
            return Ok(());
        }
        match self.gates.keeper().give_back_at_once(&self.hold) {
            Some(held) => self.told(held),
            None => Ok(()),
        }
    }

    async fn give_back(&mut self) -> Result<(), Error> {
        if !self.part()? {
            return Ok(());
        }
        let held = self.gates.keeper().give_back(&self.hold).await?;
        self.told(held)
    }

    /// Ends what there is on this side; whether the server must now be told. An error if the hold was lost.
    fn part(&mut self) -> Result<bool, Error> {
        let loss = self.hold.check();
        if !self.leave() {
            return loss.map(|()| false);
        }
        let was_live = self.end();
        self.owed = true;
        loss?;
        if !was_live {
            return self.hold.check().map(|()| false);
        }
        Ok(true)
    }

    /// The server has been told.
    fn told(&mut self, held: bool) -> Result<(), Error> {
        self.owed = false;
        if held {
            return Ok(());
        }
        Err(Error::lost(self.hold.key.name(), LossReason::Removed))
    }

    /// Leaves once; whether the hold must now go back to the server.
    fn leave(&mut self) -> bool {
        if std::mem::replace(&mut self.left, true) {
            return false;
        }
        if let Some(reports) = self.reports.take() {
            let metrics = reports.metrics.as_ref().unwrap_or(&self.hold.metrics);
            metrics.hold_ended(self.hold.terms.mode, reports.since);
        }
        !self.gated || self.gates.left(&self.hold)
    }

    /// Ends the hold on this side; whether it was live.
    fn end(&self) -> bool {
        self.gates.keeper().end(&self.hold)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.leave() {
            self.end();
            self.owed = true;
        }
        // One that was lost too: the server may still have it.
        if self.owed {
            self.gates.keeper().give_back_later(&self.hold);
        }
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share")
            .field("key", &self.hold.key.as_str())
            .field("token", &self.token)
            .field("lost", &self.hold.loss())
            .finish_non_exhaustive()
    }
}
