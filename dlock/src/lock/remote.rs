//! Acquiring on the server: ask, wait in line, ask again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::attempt::Attempt;
use super::hold::{Hold, Term, WAITER_LEASE};
use super::rw_lock::RwLock;
use super::wait::Wait;
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind, Step};
use crate::metrics::Via;
use crate::mode::Mode;
use crate::protocol::{Nonce, Op, PlaceTerms, Reply};
use crate::store::Listening;
use crate::token::FencingToken;

/// How often a waiter refreshes its place.
const HEARTBEAT: Duration = Duration::from_millis(300);
/// How often a waiter looks whom nothing can wake.
const POLL: std::ops::Range<u64> = 5..40;

/// How many grants in a row may come too late to be of use.
const LATE: u32 = 3;

/// Acquires on the server. `None` if the lock is not free and the caller does not wait. With
/// `contended` the caller has waited already, and the metrics know.
pub(super) async fn acquire(
    lock: &RwLock,
    mode: Mode,
    wait: Wait,
    mut contended: bool,
) -> Result<Option<Arc<Hold>>, Error> {
    let inner = &lock.inner;
    let settings = &lock.settings;
    let mut attempt = Attempt::new(inner, &lock.key, settings.lease);
    let id = attempt.id.clone();
    let nonce = Nonce::fresh();
    let mut listening = wait
        .may_wait()
        .then(|| inner.store.listen_if_subscribed(&lock.key, &id, nonce))
        .flatten();
    let mut queued = false;
    let mut late = 0;
    let mut free_since = None;
    loop {
        let asked = Instant::now();
        if let Some(listening) = &listening {
            listening.forget_grant();
        }
        let heard = listening.as_ref().is_some_and(Listening::is_accountable);
        let op = Op::Acquire {
            hold: id.clone(),
            mode,
            lease: settings.lease,
            owner: settings.owner.clone(),
            place: wait.may_wait().then_some(PlaceTerms {
                lease: WAITER_LEASE,
                subscribed: heard,
                nonce,
            }),
        };
        attempt.asks();
        let until = wait.cap(asked + inner.config.retry_for);
        let answer = match inner.store.call(&lock.key, &op, until).await {
            Ok(answer) => answer,
            Err(error) => {
                attempt.unanswered();
                match after_failure(lock, wait, queued, error) {
                    Some(error) => return Err(error),
                    None => continue,
                }
            }
        };
        attempt.answered(&answer);
        let (token, term) = match answer.reply {
            Reply::Granted(token) => (token, Term::Lease(answer.sent_at)),
            Reply::Queued { retry, last, now } => {
                queued = true;
                if !std::mem::replace(&mut contended, true) {
                    lock.metrics().contended(mode);
                }
                let Some(listening) = &listening else {
                    // Whoever released meanwhile could not wake us: look once more.
                    let until = wait.cap(asked + inner.config.response_timeout);
                    let heard = inner.store.listen(&lock.key, &id, nonce, until);
                    listening = Some(heard.await);
                    continue;
                };
                if answer.resent {
                    // A grant that came meanwhile may be from a server that has failed.
                    listening.forget_grant();
                }
                let again = look_again(asked, retry, listening.is_subscribed());
                let woken = pause(lock, wait, again, listening).await?;
                free_since = woken.as_ref().map(|woken| woken.at);
                match woken.and_then(|woken| woken.granted) {
                    Some(token) if fits(token, last, now, answer.sent_at) => {
                        (token, Term::Place(answer.sent_at))
                    }
                    // That of an earlier place, which has ended by now, or nothing that a server would say.
                    _ => continue,
                }
            }
            Reply::Busy(_) => {
                lock.metrics().contended(mode);
                attempt.settle();
                return Ok(None);
            }
            Reply::WouldDeadlock => {
                // A place in the line from before stays until abandoned.
                if !queued {
                    attempt.settle();
                }
                return Err(would_deadlock(lock));
            }
            Reply::Done | Reply::Gone | Reply::Info(_) | Reply::TooLate(_) | Reply::Again => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        };
        let hold = Arc::new(Hold::new(
            lock.key.clone(),
            id.clone(),
            mode,
            settings,
            Arc::clone(lock.metrics()),
            token,
            term,
            attempt.stray_until(),
        ));
        if hold.deadline() <= hold.granted_at && !inner.is_closed() {
            late += 1;
            if late == LATE {
                return Err(slower_than_lease(lock));
            }
            continue; // Heard of it too late to be of use; asking again extends it.
        }
        let pending = attempt.settle();
        if !inner.renewals.add(&hold) {
            inner.releaser.release(&hold);
            return Err(Error::closed());
        }
        drop(pending);
        if let Some(free_since) = free_since {
            lock.metrics().handed_over(Via::Server, free_since);
        }
        return Ok(Some(hold));
    }
}

/// The caller's error after a request that failed; `None` to ask again: who waits goes on for as long as servers answer
/// at all.
fn after_failure(lock: &RwLock, wait: Wait, queued: bool, error: Error) -> Option<Error> {
    match wait {
        Wait::Until(_, waited) if wait.is_over() => {
            let in_line = queued && error.is_timeout();
            let own = error.is_deferred() || in_line;
            Some(if own {
                Error::timed_out_waiting(lock.key.name(), waited)
            } else {
                error
            })
        }
        Wait::Until(..) | Wait::Forever if error.is_deferred() => None,
        _ => Some(error),
    }
}

/// Whether a grant by message fits what the server has answered: larger than the last token then, and no larger than time
/// allows, with 1 % for clocks that run at different rates and a second for what they are set by.
fn fits(token: FencingToken, last: Option<FencingToken>, now: u64, sent_at: BootInstant) -> bool {
    let passed = BootInstant::now().since(sent_at);
    let most = passed + passed / 100 + Duration::from_secs(1);
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    Some(token) > last && token.as_u64() <= now.saturating_add(most)
}

fn would_deadlock(lock: &RwLock) -> Error {
    Error::new(
        ErrorKind::WouldDeadlock,
        format!(
            "this owner reads lock `{}` beside other readers and asks to write: release the read \
             hold first, or start with a write hold",
            lock.key.name()
        ),
    )
}

fn slower_than_lease(lock: &RwLock) -> Error {
    Error::new(
        ErrorKind::Timeout(Step::Request),
        format!(
            "lock `{}` was granted {LATE} times, but the answers took longer than the lease of {:?}; \
             choose a longer lease",
            lock.key.name(),
            lock.settings.lease
        ),
    )
}

/// When to ask again unless woken: at the next heartbeat, or when a lease ends that is in the way.
/// A little late, and not all at once.
fn look_again(asked: Instant, retry: Duration, subscribed: bool) -> Instant {
    let jitter = Duration::from_micros(fastrand::u64(500..3000));
    let latest = if subscribed {
        HEARTBEAT
    } else {
        Duration::from_millis(fastrand::u64(POLL))
    };
    asked + latest.min(retry + jitter)
}

/// A message came, which means that the lock was free then.
struct Woken {
    at: BootInstant,
    /// The token, if the lock has been passed on.
    granted: Option<FencingToken>,
}

/// Sleeps until woken or `again`; an error when the caller's patience or the client ends first.
async fn pause(
    lock: &RwLock,
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
        () = lock.inner.closed() => return Err(Error::closed()),
        () = sleep_until(until) => {
            if let Wait::Until(deadline, waited) = wait && deadline <= until {
                return Err(Error::timed_out_waiting(lock.key.name(), waited));
            }
            lock.metrics().woken("timer");
        }
    }
    Ok(None)
}
