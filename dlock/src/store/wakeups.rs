//! The waiters of this client, by hold id, and their wake-ups.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::protocol::{HoldId, Message, Nonce};
use crate::random::HashMap;
use crate::sync::Mutex;
use crate::token::ServerToken;

/// A server: a message and an answer belong together only if they are from the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// The server with this number.
    #[must_use]
    pub const fn of(number: u32) -> Self {
        Self(number)
    }
}

/// The waiters of one client.
#[derive(Default)]
pub struct Wakeups {
    waiting: Mutex<HashMap<HoldId, Arc<Ear>>>,
}

/// What one waiter has been told and has not heard yet.
struct Ear {
    /// Where its messages come from: the channel, or the lock's key.
    about: Arc<str>,
    heard: Mutex<Heard>,
    notify: Notify,
}

/// What came since the server was asked last.
struct Heard {
    /// The number of that request, which a grant has to repeat by its nonce. A master that was deposed meanwhile does not know
    /// it, and its messages may come by way of its successor.
    request: u64,
    nonce: Nonce,
    /// The token of a grant, and who sent it.
    granted: Option<(ServerToken, Origin)>,
    /// Whether something may have been missed. Then a grant that comes later does not count: the server may have taken
    /// it back because it saw no subscriber, and it may have come through a replica whose subscribers the server does
    /// not see.
    missed: bool,
    /// Whether a message told it to look, which means to a hold that others want the lock.
    called: bool,
}

impl Wakeups {
    /// Starts to listen for a hold's wake-up. One that comes before [`Listener::woken`] is
    /// awaited is kept.
    pub fn listen(self: &Arc<Self>, hold: &HoldId, about: Arc<str>) -> Listener {
        let ear = Arc::new(Ear {
            about,
            heard: Mutex::new(Heard {
                request: 0,
                nonce: Nonce::of(hold),
                granted: None,
                missed: false,
                called: false,
            }),
            notify: Notify::new(),
        });
        self.waiting.lock().insert(hold.clone(), Arc::clone(&ear));
        Listener {
            wakeups: Arc::clone(self),
            hold: hold.clone(),
            ear,
        }
    }

    /// Tells one waiter what came from there; whether it is listening. A grant from elsewhere, or without what the waiter
    /// has sent along with its request, is none.
    pub fn tell(&self, about: &str, message: &Message, from: Origin) -> bool {
        let waiting = self.waiting.lock();
        let Some(ear) = waiting.get(message.hold()) else {
            return false;
        };
        if *ear.about != *about {
            return false;
        }
        if let Message::Granted { nonce, token, .. } = message {
            let mut heard = ear.heard.lock();
            if *nonce != heard.nonce {
                // It may be about an earlier request, or a copy of one: asking tells.
                ear.notify.notify_one();
                return false;
            }
            if !heard.missed {
                heard.granted = Some((*token, from));
            }
        } else {
            ear.heard.lock().called = true;
        }
        ear.notify.notify_one();
        true
    }

    /// One waiter may have missed something: until it has asked again, no grant is believed.
    pub fn distrust(&self, hold: &HoldId) {
        if let Some(ear) = self.waiting.lock().get(hold) {
            ear.heard.lock().distrust();
        }
    }

    /// Wakes one waiter to look again.
    pub fn look(&self, hold: &HoldId) {
        if let Some(ear) = self.waiting.lock().get(hold) {
            ear.notify.notify_one();
        }
    }
}

impl Heard {
    fn distrust(&mut self) {
        self.granted = None;
        self.missed = true;
    }
}

impl fmt::Debug for Wakeups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wakeups")
            .field("waiting", &self.waiting.lock().len())
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
    /// The server is asked again: what came before counts no more, nor does what answers an earlier request. What the request
    /// has to name.
    #[must_use = "a grant has to repeat it"]
    pub fn begin(&self) -> Nonce {
        let mut heard = self.ear.heard.lock();
        let request = heard.request + 1;
        *heard = Heard {
            request,
            nonce: Nonce::of_request(&self.hold, request),
            granted: None,
            missed: false,
            called: false,
        };
        heard.nonce
    }

    /// The request may be known to two servers: no grant is believed until the next one.
    pub fn distrust(&self) {
        self.ear.heard.lock().distrust();
    }

    /// Whether a message told this one to look since the last call.
    #[must_use]
    pub fn take_called(&self) -> bool {
        std::mem::take(&mut self.ear.heard.lock().called)
    }

    /// Completes at the next wake-up, or at once if one has come since the last time. The token, and who sent it, if
    /// the lock has been passed on; otherwise it is time to look.
    pub async fn woken(&self) -> Option<(ServerToken, Origin)> {
        self.ear.notify.notified().await;
        self.ear.heard.lock().granted.take()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.wakeups.waiting.lock().remove(&self.hold);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("hold", &self.hold)
            .finish_non_exhaustive()
    }
}

/// A model of a waiter and of what wakes it.
#[cfg(test)]
mod models {
    use std::sync::Arc;

    use shuttle::future::block_on;
    use shuttle::sync::atomic::{AtomicBool, Ordering};
    use shuttle::thread;

    use super::{Origin, Wakeups};
    use crate::protocol::{HoldId, Message, Nonce};
    use crate::sync::modelled::{check, fails};
    use crate::token::ServerToken;

    /// A waiter listens, asks whether the lock is free, and sleeps if not. With the mistake it asks before it listens.
    fn waits(asks_first: bool) {
        let wakeups = Arc::new(Wakeups::default());
        let free = Arc::new(AtomicBool::new(false));
        let id = HoldId::parse("client/1/1").expect("valid");
        let nonce = Nonce::of(&id);
        let (post, freed, to) = (Arc::clone(&wakeups), Arc::clone(&free), id.clone());
        let releases = thread::spawn(move || {
            freed.store(true, Ordering::SeqCst);
            let token = ServerToken::new(7);
            let message = Message::Granted {
                hold: to,
                nonce,
                token,
            };
            post.tell("lock", &message, Origin::of(1))
        });
        let asked = asks_first && free.load(Ordering::SeqCst);
        let listener = wakeups.listen(&id, "lock".into());
        if !asked && (asks_first || !free.load(Ordering::SeqCst)) {
            let heard = block_on(listener.woken());
            assert_eq!(heard, Some((ServerToken::new(7), Origin::of(1))));
        }
        drop(listener);
        releases.join().expect("ends");
        assert!(wakeups.waiting.lock().is_empty(), "still listens");
    }

    #[test]
    fn who_listens_before_asking_misses_nothing() {
        check(|| waits(false));
        fails(|| waits(true));
    }
}
