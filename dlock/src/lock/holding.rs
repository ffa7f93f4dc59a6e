//! What a guard stands on.

use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;

use super::hold::Hold;
use super::shared_hold::SharedHold;
use crate::client::Inner;
use crate::clock::BootInstant;
use crate::error::{Error, LossReason};
use crate::metrics::{self, LockMetrics};
use crate::protocol::{Op, Reply};
use crate::token::FencingToken;
use crate::trace::HeldTrace;

/// One user of a hold. Dropping it passes the hold on, or queues its release.
#[must_use = "dropping it gives the lock back"]
pub(crate) struct Holding {
    inner: Arc<Inner>,
    pub(super) shared: Arc<SharedHold>,
    pub(super) token: FencingToken,
    /// What to report to, since the guard was handed out.
    reports: Option<Reports>,
    left: bool,
    /// Whether the server has yet to hear of the end: dropping this queues the release then.
    owed: bool,
}

/// Where the hold of a guard is reported.
struct Reports {
    /// Unless they are those of the hold.
    metrics: Option<Arc<LockMetrics>>,
    since: BootInstant,
    _trace: HeldTrace,
}

impl Holding {
    pub(super) fn new(inner: Arc<Inner>, shared: Arc<SharedHold>, token: FencingToken) -> Self {
        Self {
            inner,
            shared,
            token,
            reports: None,
            left: false,
            owed: false,
        }
    }

    /// From now on somebody holds the lock through this.
    pub(super) fn report_to(
        &mut self,
        metrics: &Arc<LockMetrics>,
        since: BootInstant,
        trace: HeldTrace,
    ) {
        metrics.hold_began(self.hold().mode);
        let own = Arc::ptr_eq(metrics, &self.hold().metrics);
        self.reports = Some(Reports {
            metrics: (!own).then(|| Arc::clone(metrics)),
            since,
            _trace: trace,
        });
    }

    pub(crate) fn hold(&self) -> &Hold {
        &self.shared.hold
    }

    /// The hold, to look at for longer than this lasts.
    pub(crate) fn share_hold(&self) -> Arc<Hold> {
        Arc::clone(&self.shared.hold)
    }

    pub(crate) fn token(&self) -> FencingToken {
        self.token
    }

    /// Leaves the hold without a word to the gate: the server has given it to somebody else.
    pub(super) fn disarm(mut self) {
        self.left = true;
        self.end();
    }

    /// Undoes its making, for the gate, which keeps count itself.
    pub(super) fn forget(mut self) {
        self.left = true;
    }

    pub(crate) async fn release(self) -> Result<(), Error> {
        self.give_back().await.inspect_err(metrics::failed)
    }

    async fn give_back(mut self) -> Result<(), Error> {
        let loss = self.hold().check();
        if !self.leave() {
            return loss;
        }
        let was_live = self.end();
        self.owed = true;
        loss?;
        if !was_live {
            return self.hold().check();
        }
        let hold = self.hold();
        let op = Op::Release {
            hold: hold.id.clone(),
            handed: hold.handed(),
            lease: hold.lease,
            stray: hold.stray(),
        };
        let deadline = Instant::now() + self.inner.config.retry_for;
        let answer = self.inner.store.call(&hold.key, &op, deadline).await?;
        self.owed = false;
        let hold = self.hold();
        // Beyond the deadline it is gone because the release took that long: it was held to the end.
        if answer.reply == Reply::Gone && !answer.resent && BootInstant::now() < hold.deadline() {
            return Err(Error::lost(hold.key.name(), LossReason::Removed));
        }
        Ok(())
    }

    /// Leaves once; whether the hold must now go back to the server.
    fn leave(&mut self) -> bool {
        if std::mem::replace(&mut self.left, true) {
            return false;
        }
        if let Some(reports) = self.reports.take() {
            let metrics = reports.metrics.as_ref().unwrap_or(&self.hold().metrics);
            metrics.hold_ended(self.hold().mode, reports.since);
        }
        !self.shared.gated || self.inner.gates.leave(&self.inner, &self.shared)
    }

    /// Ends the hold on this side; whether it was live.
    fn end(&self) -> bool {
        self.inner.renewals.remove(self.hold());
        self.hold().finish()
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        if self.leave() {
            self.end();
            self.owed = true;
        }
        // One that was lost too: the server may still have it.
        if self.owed {
            self.inner.releaser.release(self.hold());
        }
    }
}

impl fmt::Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holding")
            .field("key", &self.hold().key.as_str())
            .field("token", &self.token)
            .field("lost", &self.hold().loss())
            .finish_non_exhaustive()
    }
}
