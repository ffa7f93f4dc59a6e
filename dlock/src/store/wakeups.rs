//! Who of this client waits for a wake-up, by hold id.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::protocol::{HoldId, Message};
use crate::token::FencingToken;

/// The waiters of one client.
#[derive(Default)]
pub struct Wakeups {
    waiting: Mutex<HashMap<HoldId, Arc<Ear>>>,
}

/// What one waiter has been told and has not heard yet.
#[derive(Default)]
struct Ear {
    /// The token of a grant; 0 for none.
    granted: AtomicU64,
    notify: Notify,
}

impl Wakeups {
    /// Starts to listen for a hold's wake-up. One that comes before [`Listener::woken`] is
    /// awaited is kept.
    pub fn listen(self: &Arc<Self>, hold: &HoldId) -> Listener {
        let ear = Arc::<Ear>::default();
        self.lock().insert(hold.clone(), Arc::clone(&ear));
        Listener {
            wakeups: Arc::clone(self),
            hold: hold.clone(),
            ear,
        }
    }

    /// Tells one waiter.
    pub fn tell(&self, message: &Message) {
        if let Some(ear) = self.lock().get(message.hold()) {
            if let Message::Granted(_, token) = message {
                ear.granted.store(token.as_u64(), Ordering::Release);
            }
            ear.notify.notify_one();
        }
    }

    /// Wakes all waiters to look again: wake-ups may have been missed.
    pub fn wake_all(&self) {
        for ear in self.lock().values() {
            ear.notify.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HoldId, Arc<Ear>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Wakeups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wakeups")
            .field("waiting", &self.lock().len())
            .finish()
    }
}

/// Hears the wake-ups of one hold until dropped.
#[must_use = "dropping the listener stops it at once"]
pub struct Listener {
    wakeups: Arc<Wakeups>,
    hold: HoldId,
    ear: Arc<Ear>,
}

impl Listener {
    /// What was granted before counts no more: the server is asked again.
    pub fn forget_grant(&self) {
        self.ear.granted.store(0, Ordering::Release);
    }

    /// Completes at the next wake-up, or at once if one has come since the last time. The token if
    /// the lock has been passed on; otherwise it is time to look.
    pub async fn woken(&self) -> Option<FencingToken> {
        self.ear.notify.notified().await;
        match self.ear.granted.swap(0, Ordering::AcqRel) {
            0 => None,
            token => Some(FencingToken::new(token)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.wakeups.lock().remove(&self.hold);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("hold", &self.hold)
            .finish_non_exhaustive()
    }
}
