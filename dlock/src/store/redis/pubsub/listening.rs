//! A waiter's ear.

use std::fmt;
use std::sync::Arc;

use super::channels::Name;
use super::hearing::PubSub;
use crate::key::LockKey;
use crate::protocol::{HoldId, Nonce};
use crate::store::{Listener, Origin};
use crate::token::ServerToken;

/// Hears the wake-ups of one hold until dropped.
#[must_use = "dropping it stops listening"]
pub struct Listening {
    listener: Listener,
    seat: Option<Seat>,
}

/// A listener's seat at a channel.
struct Seat {
    pubsub: Arc<PubSub>,
    key: LockKey,
    name: Name,
    hold: HoldId,
}

impl Listening {
    pub(super) fn new(pubsub: &Arc<PubSub>, key: &LockKey, name: &Name, hold: &HoldId) -> Self {
        Self {
            listener: pubsub.wakeups.listen(hold, Arc::clone(name)),
            seat: Some(Seat {
                pubsub: Arc::clone(pubsub),
                key: key.clone(),
                name: Arc::clone(name),
                hold: hold.clone(),
            }),
        }
    }

    /// Without pub/sub.
    pub(super) fn deaf(listener: Listener) -> Self {
        Self {
            listener,
            seat: None,
        }
    }

    /// Whether wake-ups arrive at the moment; otherwise the waiter has to poll.
    #[must_use]
    pub fn is_subscribed(&self) -> bool {
        self.seat
            .as_ref()
            .is_some_and(|seat| seat.pubsub.channels.is_live(&seat.name))
    }

    /// Whether wake-ups can be relied on: they arrive, and the last time the lock became free one did.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.is_subscribed()
            && self
                .seat
                .as_ref()
                .is_some_and(|seat| !seat.pubsub.untold.has(&seat.key))
    }

    /// Whether a subscription is under way that was not refused before. That it is live, or fails, wakes the waiter.
    #[must_use]
    pub fn is_promising(&self) -> bool {
        self.seat
            .as_ref()
            .is_some_and(|seat| seat.pubsub.channels.is_promising(&seat.name))
    }

    /// The lock became free, and a wake-up came, or did not: the releasing client may not have the right to send one.
    pub fn note(&self, told: bool) {
        let Some(Seat { pubsub, key, .. }) = &self.seat else {
            return;
        };
        if told {
            pubsub.untold.remove(key);
        } else if self.is_subscribed() {
            pubsub.untold.add(key);
        }
    }

    /// The server is asked again: what came before counts no more. What the request has to name.
    #[must_use = "a grant has to repeat it"]
    pub fn begin(&self) -> Nonce {
        self.listener.begin()
    }

    /// Whether a message told this one to look since the last call.
    #[must_use]
    pub fn take_called(&self) -> bool {
        self.listener.take_called()
    }

    /// The request may be known to two servers: no grant is believed until the next one.
    pub fn distrust(&self) {
        self.listener.distrust();
    }

    /// Completes at the next wake-up, or at once if one has come since the last time.
    pub async fn woken(&self) -> Option<(ServerToken, Origin)> {
        self.listener.woken().await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.pubsub.channels.leave(&self.name, &self.hold);
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("subscribed", &self.is_subscribed())
            .finish_non_exhaustive()
    }
}
