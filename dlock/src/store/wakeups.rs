//! Who of this client waits for a wake-up, by hold id.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::protocol::{HoldId, Message, Nonce};
use crate::token::FencingToken;

/// The waiters of one client.
#[derive(Default)]
pub struct Wakeups {
    waiting: Mutex<HashMap<HoldId, Arc<Ear>>>,
}

/// What one waiter has been told and has not heard yet.
struct Ear {
    /// Where its messages come from: the channel, or the lock's key.
    about: Arc<str>,
    /// What a grant has to repeat.
    nonce: Nonce,
    /// The token of a grant; 0 for none.
    granted: AtomicU64,
    notify: Notify,
}

impl Wakeups {
    /// Starts to listen for a hold's wake-up. One that comes before [`Listener::woken`] is
    /// awaited is kept.
    pub fn listen(self: &Arc<Self>, hold: &HoldId, about: Arc<str>, nonce: Nonce) -> Listener {
        let ear = Arc::new(Ear {
            about,
            nonce,
            granted: AtomicU64::new(0),
            notify: Notify::new(),
        });
        self.lock().insert(hold.clone(), Arc::clone(&ear));
        Listener {
            wakeups: Arc::clone(self),
            hold: hold.clone(),
            ear,
        }
    }

    /// Tells one waiter what came from there; whether it is listening. A grant from elsewhere, or without what the waiter
    /// has sent along with its request, is none.
    pub fn tell(&self, about: &str, message: &Message) -> bool {
        let waiting = self.lock();
        let Some(ear) = waiting.get(message.hold()) else {
            return false;
        };
        if *ear.about != *about {
            return false;
        }
        if let Message::Granted { nonce, token, .. } = message {
            if *nonce != ear.nonce {
                return false;
            }
            ear.granted.store(token.as_u64(), Ordering::Release);
        }
        ear.notify.notify_one();
        true
    }

    /// Wakes one waiter to look again.
    pub fn wake(&self, hold: &HoldId) {
        if let Some(ear) = self.lock().get(hold) {
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
