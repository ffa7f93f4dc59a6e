//! Looking after holds that may linger: each goes back when other clients want the lock, or when no task has used it for a
//! while. A lock that goes to and fro does not linger.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Gates;
use super::line::Usage;
use crate::clock::{BootInstant, sleep};
use crate::hold::{Hold, Keeper};
use crate::key::{KeyMap, LockKey};
use crate::lease::Millis;
use crate::store::Listening;
use crate::sync::Mutex;

/// How often the server is asked whether others want a lock that is used very much, in case its messages do not arrive.
const GLANCE: Duration = Duration::from_millis(10);
/// How often a lock has to be used in that time: a request of the watch stands for a hundred that are saved.
const BUSY: u32 = 100;

/// Watches one hold that may linger, until it ends.
#[derive(Debug)]
pub(super) struct Watch {
    gates: Weak<Gates>,
    keeper: Arc<Keeper>,
    hold: Arc<Hold>,
    linger: Duration,
    /// How often the hold had been used at the last look.
    uses: u32,
}

impl Watch {
    pub(super) fn new(gates: &Arc<Gates>, hold: &Arc<Hold>) -> Self {
        Self {
            gates: Arc::downgrade(gates),
            keeper: Arc::clone(gates.keeper()),
            hold: Arc::clone(hold),
            linger: hold.terms.linger.map_or(Duration::ZERO, Millis::span),
            uses: 0,
        }
    }

    /// Watches, listening with what the acquire listened with, if that has missed nothing.
    pub(super) async fn run(mut self, listening: Option<Box<Listening>>) {
        let hold = Arc::clone(&self.hold);
        let Some(lingering) = hold.lingering() else {
            return;
        };
        let listening = if let Some(listening) = listening {
            *listening
        } else {
            let ended = async {
                while hold.is_live() {
                    lingering.changed.notified().await;
                }
            };
            tokio::select! {
                listening = self.keeper.listen(&hold, self.linger) => {
                    // Other clients may have asked before.
                    self.keeper.hasten(&hold);
                    listening
                }
                () = ended => return,
            }
        };
        let mut pause = GLANCE;
        loop {
            tokio::select! {
                _ = listening.woken() => {
                    if listening.take_called() {
                        self.wanted().await;
                    } else {
                        // The subscription has changed, so messages may have been missed.
                        self.keeper.hasten(&hold);
                    }
                }
                () = lingering.changed.notified() => {
                    if lingering.take_wanted() {
                        self.wanted().await;
                    }
                }
                () = sleep(pause) => {}
            }
            match self.look().await {
                Some(next) => pause = next,
                None => return,
            }
        }
    }

    /// Gives the hold back if it has lingered for as long as it may. When to look again; `None` if the hold has ended.
    async fn look(&mut self) -> Option<Duration> {
        let gates = self.gates.upgrade()?;
        let usage = gates.usage(&self.hold);
        drop(gates);
        match usage {
            // While the server is asked for another slice, no task can get the hold.
            None => self.hold.is_live().then_some(self.linger),
            Some(Usage::Over(share)) => {
                // If it fails, the drop has it tried again.
                let _ = share.release().await;
                None
            }
            Some(Usage::Used { times, rest }) => {
                let used = times.wrapping_sub(self.uses);
                self.uses = times;
                if used < BUSY {
                    return Some(rest.max(Duration::from_millis(1)));
                }
                self.keeper.hasten(&self.hold);
                Some(GLANCE)
            }
        }
    }

    /// Others want the lock. The hold goes back now if no task uses it, otherwise when the last one has left it.
    async fn wanted(&self) {
        let since = self.hold.metrics.now();
        let gates = self.gates.upgrade();
        let share = gates.and_then(|gates| gates.wanted(&self.hold));
        if let Some(share) = share {
            let _ = share.release().await;
            self.hold.metrics.gave_back(since);
        }
    }
}

/// Two requests for a lock that lingers within this time make it restless.
const OFTEN: Duration = Duration::from_millis(500);
/// For how long a restless lock does not linger at first, and how often that doubles at most.
const REST: Duration = Duration::from_secs(1);
const MOST: u32 = 6;

/// The locks that other clients want often: to keep such a lock costs more than to ask for it again.
#[derive(Debug, Default)]
pub(super) struct Restless {
    locks: Mutex<KeyMap<Rest>>,
}

/// When other clients asked for a lock, and until when it does not linger.
#[derive(Debug, Clone, Copy)]
struct Rest {
    asked: Option<BootInstant>,
    until: BootInstant,
    /// How often in a row it had to rest: each time for twice as long.
    times: u32,
}

impl Rest {
    fn new() -> Self {
        Self {
            asked: None,
            until: BootInstant::from_nanos(0),
            times: 0,
        }
    }

    /// Other clients ask.
    fn asked(&mut self, now: BootInstant) {
        if now.since(self.until) > self.rest() {
            self.times = 0;
        }
        let asked = self.asked.replace(now);
        if asked.is_some_and(|asked| now.since(asked) < OFTEN) {
            self.until = now + self.rest();
            self.times = (self.times + 1).min(MOST);
        }
    }

    fn is_over(&self, now: BootInstant) -> bool {
        self.until <= now
    }

    /// Whether it decides about the next request of others, or about its rest.
    fn matters(&self, now: BootInstant) -> bool {
        let asked = self.asked.is_some_and(|asked| now.since(asked) < OFTEN);
        asked || now.since(self.until) <= self.rest()
    }

    /// For how long it would rest next.
    fn rest(&self) -> Duration {
        REST * 2_u32.pow(self.times)
    }
}

impl Restless {
    /// Other clients ask for a lock that lingers.
    pub(super) fn asked(&self, key: &LockKey, now: BootInstant) {
        let mut locks = self.locks.lock();
        // Before it grows, which happens ever less often, it forgets what does not matter any more.
        if locks.len() == locks.capacity() {
            locks.retain(|_, rest| rest.matters(now));
        }
        let rest = locks.entry(key.clone()).or_insert_with(Rest::new);
        rest.asked(now);
    }

    /// Whether holds of the lock may linger now.
    pub(super) fn may_linger(&self, key: &LockKey, now: BootInstant) -> bool {
        let locks = self.locks.lock();
        locks.get(key).is_none_or(|rest| rest.is_over(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{REST, Rest};
    use crate::clock::BootInstant;

    #[test]
    fn a_lock_that_others_want_often_does_not_linger_for_longer_and_longer() {
        let mut lock = Rest::new();
        let soon = Duration::from_millis(100);
        let mut now = BootInstant::from_nanos(1_000_000_000);
        lock.asked(now);
        assert!(lock.is_over(now), "once is not often");
        for times in 0..3 {
            let again = now + soon;
            lock.asked(again);
            let rest = REST * 2_u32.pow(times);
            assert!(!lock.is_over(again + rest / 2), "{times}");
            now = again + rest;
            assert!(lock.is_over(now), "{times}");
            lock.asked(now);
            assert!(lock.is_over(now), "{times}");
        }
        // After a long rest it begins anew.
        now = now + 20 * REST;
        lock.asked(now);
        lock.asked(now + soon);
        assert!(lock.is_over(now + soon + REST), "forgotten");
    }
}
