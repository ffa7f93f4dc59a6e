//! The keeper renews the holds of a client and releases them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::farewell::Pending;
use super::release::{self, Releases};
use super::renewal::Renewals;
use super::{Hold, OnLoss};
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::{Error, LossReason};
use crate::key::LockKey;
use crate::protocol::{HoldId, Reply, Stray};
use crate::store::{Answer, Listening, Store, Timeouts};

/// How often a task looks that waits for the last hold to end.
const LOOK: Duration = Duration::from_millis(5);

/// Keeps the holds of one client, from their grant until the server knows of their end.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(super) store: Arc<Store>,
    pub(super) retry_for: Duration,
    pub(super) renewals: Arc<Renewals>,
    pub(super) releases: Releases,
}

impl Keeper {
    /// Starts the tasks that renew and release.
    pub(crate) fn start(store: Arc<Store>, timeouts: Timeouts, on_loss: Weak<dyn OnLoss>) -> Self {
        let releases = Releases::start(Arc::clone(&store), timeouts.response);
        let renewals = Renewals::start(
            on_loss,
            Arc::clone(&store),
            releases.clone(),
            timeouts.response,
        );
        Self {
            store,
            retry_for: timeouts.retry_for,
            renewals,
            releases,
        }
    }

    /// From now on the hold is renewed. After a shutdown it goes back instead.
    pub(crate) fn keep(&self, hold: &Arc<Hold>) -> Result<(), Error> {
        if self.renewals.add(hold) {
            return Ok(());
        }
        self.releases.release(hold);
        Err(Error::closed())
    }

    /// Ends a hold on this side; whether it was live. What the server has to be told is up to the caller.
    pub(crate) fn end(&self, hold: &Hold) -> bool {
        let live = hold.finish();
        // Behind it: a renewal that has just been answered does not queue it again.
        self.renewals.remove(hold);
        live
    }

    /// Gives an ended hold back and waits until the server knows. Whether it was held to the end.
    pub(crate) async fn give_back(&self, hold: &Hold) -> Result<bool, Error> {
        let _pending = self.releases.begin();
        let op = release::of(hold);
        let later = self.releases.follow_up(&hold.key, &op, hold.terms.lease);
        let answer = self.store.call(&hold.key, &op, || self.deadline()).await?;
        // After the answer: what follows may release the hold, which would then count as lost.
        self.releases.send_later(later);
        Ok(was_held(hold, &answer))
    }

    /// Whether the server can be told without waiting.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.store.is_at_hand()
    }

    /// Releases a hold without a future, where the store can.
    pub(crate) fn give_back_at_once(&self, hold: &Hold) -> Option<bool> {
        let op = release::of(hold);
        let answer = self.store.call_at_once(&hold.key, &op)?;
        let later = self.releases.follow_up(&hold.key, &op, hold.terms.lease);
        self.releases.send_later(later);
        Some(was_held(hold, &answer))
    }

    /// Gives an ended hold back in the background.
    pub(crate) fn give_back_later(&self, hold: &Hold) {
        self.releases.release(hold);
        self.releases.see_off();
    }

    /// Ends holds that no task uses, and gives them back in the background.
    pub(crate) fn give_all_back(&self, holds: &[Arc<Hold>]) {
        for hold in holds {
            self.end(hold);
            self.releases.release(hold);
        }
        if !holds.is_empty() {
            self.releases.see_off();
        }
    }

    /// Ends the hold of any client on the server; whether there was one.
    pub(crate) async fn force_release(
        &self,
        key: &LockKey,
        hold: HoldId,
        lease: Duration,
    ) -> Result<bool, Error> {
        let op = release::of_another(hold, lease);
        match self.store.call(key, &op, || self.deadline()).await? {
            answer if answer.reply == Reply::Done => Ok(true),
            answer if answer.reply == Reply::Gone => Ok(answer.resent),
            _ => Err(Error::unexpected_reply(key.name())),
        }
    }

    /// Listens for messages to a hold that its process may keep: others want the lock. Takes for as long as `patience` at most.
    pub(crate) async fn listen(&self, hold: &Hold, patience: Duration) -> Listening {
        let until = Instant::now() + patience;
        self.store.listen(&hold.key, &hold.id, until).await
    }

    /// Renews a hold soon, which tells whether others want the lock.
    pub(crate) fn hasten(&self, hold: &Arc<Hold>) {
        self.renewals.hasten(hold);
    }

    /// Until when what is asked now is tried.
    fn deadline(&self) -> Instant {
        Instant::now() + self.retry_for
    }

    /// Marks an acquire as under way: [`flush`](Self::flush) waits for it.
    pub(crate) fn begin(&self) -> Pending {
        self.releases.begin()
    }

    /// Undoes in the background an acquire that no caller wants any more.
    pub(crate) fn abandon(
        &self,
        key: LockKey,
        hold: HoldId,
        stray: Stray,
        lease: Duration,
        pending: Pending,
    ) {
        self.releases.abandon(key, hold, stray, lease, pending);
        self.releases.see_off();
    }

    /// Ends all holds as lost, and gives them back.
    pub(crate) fn stop(&self) {
        self.renewals.stop(LossReason::Shutdown);
    }

    /// Queued releases are delivered before the runtime of this thread has ended.
    pub(crate) fn see_off(&self) {
        self.releases.see_off();
    }

    /// Completes when nothing is held.
    pub(crate) async fn nothing_held(&self) {
        while !self.renewals.is_idle() {
            // Polled, so that releases need not notify, which would cost each of them time.
            sleep(LOOK).await;
        }
    }

    /// Completes when nothing is under way.
    pub(crate) async fn flush(&self) {
        self.releases.flush().await;
    }
}

/// Whether a hold that has been given back was held to the end.
fn was_held(hold: &Hold, answer: &Answer) -> bool {
    let gone = answer.reply == Reply::Gone && !answer.resent;
    // Beyond the deadline it is gone because the release took that long.
    !gone || BootInstant::now() >= hold.deadline()
}
