//! Waiting in the line on the server, and how long an acquire may wait.

use std::time::Duration;

use super::gate::Lead;
use super::handle::Handle;
use crate::clock::{BootInstant, Instant, sleep_until};
use crate::error::Error;
use crate::hold::WAITER_LEASE;
use crate::protocol::{Nonce, PlaceTerms};
use crate::random;
use crate::store::{Answer, Listening, Origin};
use crate::token::ServerToken;

/// How often a waiter refreshes its place, at first, and after it has waited for some time: what it missed then would
/// delay it by no more than it has waited already.
pub(super) const HEARTBEAT: Duration = Duration::from_millis(300);
const LONG_HEARTBEAT: Duration = Duration::from_secs(1);
/// How many round trips heartbeats are apart at least: a hundred waiters leave most of a slow server's time to hand-overs.
const ROUND_TRIPS: u32 = 100;
/// By what part heartbeats differ at most. Waits that outlast their first heartbeat cost the server a request more. If all
/// heartbeats came at the same time, a fault could make all waits outlast it, and that request keep them as long for ever.
const VARIED: f64 = 1.0 / 3.0;
/// How often a waiter looks that no message wakes.
const POLL: std::ops::Range<u64> = 5..40;

/// What to ask for if the lock is not free. A place lasts for three pauses, also where pauses are long because the server is slow.
pub(super) fn place_terms(
    lock: &Handle,
    wait: Wait,
    listening: Option<&Listening>,
    queued: bool,
) -> Option<PlaceTerms> {
    let nonce = listening.map_or(Nonce::NOBODY, Listening::begin);
    // An acquire that finds the lock free does not pay for this: after the first answer a waiter looks again within a second.
    let longest = || queued.then(|| lock.commons.store.longest_pause(lock.key.slot()))?;
    wait.may_wait().then(|| PlaceTerms {
        lease: longest().map_or(WAITER_LEASE, |pause| WAITER_LEASE.max(3 * pause)),
        subscribed: listening.is_some_and(Listening::is_subscribed),
        nonce,
    })
}

/// How the servers answer a waiting caller.
pub(super) struct Service<'l> {
    lock: &'l Handle,
    wait: Wait,
    /// The lead, if other tasks wait for the result.
    lead: Option<&'l Lead>,
    /// When a server said first, and last, that the lock is taken.
    first_taken: Option<Instant>,
    taken: Option<Instant>,
    /// Whether those behind have been told that no server serves the lock.
    troubled: bool,
}

impl<'l> Service<'l> {
    pub(super) fn new(lock: &'l Handle, wait: Wait, lead: Option<&'l Lead>) -> Self {
        Self {
            lock,
            wait,
            lead,
            first_taken: None,
            taken: None,
            troubled: false,
        }
    }

    /// A server says that the lock is taken.
    pub(super) fn taken(&mut self, answered: Instant) {
        self.first_taken.get_or_insert(answered);
        self.taken = Some(answered);
        if std::mem::take(&mut self.troubled) {
            self.tell(None);
        }
    }

    /// How long a waiter pauses that will be woken, if its last request `took` so long; `None` if nothing wakes it.
    pub(super) fn heartbeat(&self, listening: &Listening, took: Duration) -> Option<Duration> {
        if listening.is_told() {
            let waited = self
                .first_taken
                .map_or(Duration::ZERO, |since| since.elapsed());
            let usual = (waited / 2)
                .max(ROUND_TRIPS * took)
                .clamp(HEARTBEAT, LONG_HEARTBEAT);
            let varied = usual.mul_f64(1.0 + (2.0 * random::f64() - 1.0) * VARIED);
            Some(varied.min(LONG_HEARTBEAT))
        } else {
            listening.is_promising().then_some(HEARTBEAT)
        }
    }

    /// The caller's error after a request that failed; `None` to ask again: a waiter goes on for as long as servers
    /// answer at all.
    pub(super) fn failed(&mut self, error: Error) -> Option<Error> {
        match self.wait {
            Wait::Until(_, waited) if self.wait.is_over() => Some(self.gave_up(waited, error)),
            Wait::Until(..) | Wait::Forever if error.is_deferred() => {
                self.troubled = true;
                self.tell(Some(&error));
                None
            }
            _ => Some(error),
        }
    }

    /// The error at the end of the caller's patience. That others hold the lock is known for as long as heartbeats are answered
    /// in time.
    fn gave_up(&self, waited: Duration, error: Error) -> Error {
        let name = self.lock.key.name();
        if error.is_own() || !(error.is_unavailable() || error.is_timeout()) {
            return error;
        }
        let pause = self.lock.commons.store.longest_pause(self.lock.key.slot());
        let fresh = pause.unwrap_or(LONG_HEARTBEAT) + self.lock.commons.timeouts.response;
        match self.taken {
            Some(taken) if taken.elapsed() < fresh => Error::timed_out_waiting(name, waited),
            _ => error.while_waiting(name, waited),
        }
    }

    fn tell(&self, trouble: Option<&Error>) {
        if let Some(lead) = self.lead {
            lead.troubled(trouble);
        }
    }
}

/// The token of a grant by message, if that fits the server's last answer. It has to come from the same server, because
/// one that was deposed may still publish. It has to be larger than the last token in that answer, and no larger than
/// time allows: 1 % is added for clocks that run at different rates, and a second for clocks that were set. An answer
/// that names no last token came from a lock without a queue: it has refreshed no queue position, so the lease of a
/// position does not count from it.
pub(super) fn believe(
    granted: Option<(ServerToken, Origin)>,
    answer: &Answer,
    last: Option<ServerToken>,
    now: u64,
) -> Option<ServerToken> {
    let (token, from) = granted?;
    let passed = BootInstant::now().since(answer.sent_at);
    let most = passed + passed / 100 + Duration::from_secs(1);
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    let fits = token > last? && token.as_u64() <= now.saturating_add(most);
    (fits && from == answer.from).then_some(token)
}

/// When to ask again unless woken: at the next heartbeat, or when a lease ends that is in the way.
/// A little late, and not all at once.
pub(super) fn look_again(
    lock: &Handle,
    (asked, answered): (Instant, Instant),
    retry: Duration,
    place: Duration,
    heartbeat: Option<Duration>,
) -> Instant {
    let jitter = Duration::from_micros(random::u64(500..3000));
    let poll = || Duration::from_millis(random::u64(POLL));
    let usual = heartbeat.unwrap_or_else(poll);
    let (store, slot) = (&lock.commons.store, lock.key.slot());
    let latest = store.next_look(slot, (asked, answered), usual, heartbeat.is_some());
    let latest = latest.min(answered + place / 3 + jitter);
    let end = answered + retry + jitter;
    if latest <= end {
        latest
    } else if end < answered + usual {
        end
    } else {
        // Over a slow server, not all that wait for a process that holds many locks look when their leases would end.
        end + (latest - end).mul_f64(random::f64())
    }
}

/// A message came, which means that the lock was free then.
pub(super) struct Woken {
    pub(super) at: BootInstant,
    /// The token, if the lock has been passed on.
    pub(super) granted: Option<(ServerToken, Origin)>,
}

/// Sleeps until woken or `again`; an error when the caller's patience or the client ends first.
pub(super) async fn pause(
    lock: &Handle,
    wait: Wait,
    again: Instant,
    listening: &Listening,
) -> Result<Option<Woken>, Error> {
    let until = wait.cap(again);
    tokio::select! {
        granted = listening.woken() => {
            lock.metrics().woken("message");
            return Ok(Some(Woken { at: lock.metrics().now(), granted }));
        }
        error = lock.commons.closed() => return Err(error),
        () = sleep_until(until) => {
            if let Wait::Until(deadline, waited) = wait && deadline <= until {
                return Err(Error::timed_out_waiting(lock.key.name(), waited));
            }
            lock.metrics().woken("timer");
        }
    }
    Ok(None)
}

/// The caller's patience.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// Take it or leave it.
    No,
    /// As long as it takes.
    Forever,
    /// This long, once it has begun.
    For(Duration),
    /// Until then; and what the caller called it, for the error.
    Until(Instant, Duration),
}

impl Wait {
    /// The time begins to run, unless it does already.
    #[inline]
    pub(crate) fn begin(self) -> Self {
        match self {
            Self::For(patience) => Instant::now()
                .checked_add(patience)
                .map_or(Self::Forever, |until| Self::Until(until, patience)),
            begun => begun,
        }
    }

    pub(crate) fn may_wait(self) -> bool {
        !matches!(self, Self::No)
    }

    /// Whether the caller's patience has come to its end.
    pub(super) fn is_over(self) -> bool {
        matches!(self, Self::Until(until, _) if until <= Instant::now())
    }

    /// `deadline`, or the caller's if that is sooner.
    pub(super) fn cap(self, deadline: Instant) -> Instant {
        match self {
            Self::Until(until, _) => until.min(deadline),
            _ => deadline,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::believe;
    use crate::clock::BootInstant;
    use crate::protocol::Reply;
    use crate::store::{Answer, Origin};
    use crate::token::ServerToken;

    const NOW: u64 = 1_000_000_000;

    #[test]
    fn a_grant_is_believed_only_if_it_fits_the_last_answer() {
        let answer = Answer {
            reply: Reply::Done,
            from: Origin::of(1),
            sent_at: BootInstant::now(),
            resent: false,
        };
        let last = Some(ServerToken::new(NOW - 5));
        let believed = |token, from| {
            let granted = Some((ServerToken::new(token), Origin::of(from)));
            believe(granted, &answer, last, NOW).is_some()
        };
        assert!(believed(NOW + 1, 1));
        let granted = Some((ServerToken::new(NOW + 1), Origin::of(1)));
        let elsewhere = believe(granted, &answer, None, NOW);
        assert_eq!(elsewhere, None, "the answer was about no place");
        assert!(!believed(NOW + 1, 2), "a server that has been deposed");
        assert!(!believed(NOW - 5, 1), "an earlier place");
        assert!(!believed(NOW + 3_600_000_000, 1), "beyond the time passed");
    }
}
