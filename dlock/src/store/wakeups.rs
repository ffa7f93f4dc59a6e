//! Who of this client waits for a wake-up, by hold id.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::protocol::HoldId;

/// The waiters of one client.
#[derive(Default)]
pub struct Wakeups {
    waiting: Mutex<HashMap<HoldId, Arc<Notify>>>,
}

impl Wakeups {
    /// Starts to listen for a hold's wake-up. One that comes before [`Listener::woken`] is
    /// awaited is kept.
    pub fn listen(self: &Arc<Self>, hold: &HoldId) -> Listener {
        let notify = Arc::new(Notify::new());
        self.lock().insert(hold.clone(), Arc::clone(&notify));
        Listener {
            wakeups: Arc::clone(self),
            hold: hold.clone(),
            notify,
        }
    }

    /// Wakes one waiter; whether it was there.
    pub fn wake(&self, hold: &HoldId) -> bool {
        match self.lock().get(hold) {
            Some(notify) => {
                notify.notify_one();
                true
            }
            None => false,
        }
    }

    /// Wakes all waiters to look again: wake-ups may have been missed.
    pub fn wake_all(&self) {
        for notify in self.lock().values() {
            notify.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HoldId, Arc<Notify>>> {
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
    notify: Arc<Notify>,
}

impl Listener {
    /// Completes at the next wake-up, or at once if one has come since the last time.
    pub async fn woken(&self) {
        self.notify.notified().await;
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
