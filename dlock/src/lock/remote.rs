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
use crate::protocol::{Op, Reply};
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
    let attempt = Attempt::new(inner, &lock.key, settings.lease);
    let op = Op::Acquire {
        hold: attempt.id.clone(),
        mode,
        lease: settings.lease,
        owner: settings.owner.clone(),
        queue: wait.may_wait().then_some(WAITER_LEASE),
    };
    let mut listening = wait
        .may_wait()
        .then(|| inner.store.listen_if_subscribed(&lock.key, &attempt.id))
        .flatten();
    let mut queued = false;
    let mut late = 0;
    let mut free_since = None;
    loop {
        let asked = Instant::now();
        if let Some(listening) = &listening {
            listening.forget_grant();
        }
        let answer = inner
            .store
            .call(&lock.key, &op, wait.cap(asked + inner.config.retry_for))
            .await
            .map_err(|error| match wait {
                Wait::Until(_, waited) if queued && error.is_timeout() && wait.is_over() => {
                    Error::timed_out_waiting(lock.key.name(), waited)
                }
                _ => error,
            })?;
        let (token, term) = match answer.reply {
            Reply::Granted(token) => (token, Term::Lease(answer.sent_at)),
            Reply::Queued { retry, last } => {
                queued = true;
                if !std::mem::replace(&mut contended, true) {
                    lock.metrics().contended(mode);
                }
                let Some(listening) = &listening else {
                    // Whoever released meanwhile could not wake us: look once more.
                    let until = wait.cap(asked + inner.config.response_timeout);
                    let heard = inner.store.listen(&lock.key, &attempt.id, until);
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
                    // Otherwise it is the grant of an earlier place, which has ended by now.
                    Some(token) if Some(token) > last => (token, Term::Place(answer.sent_at)),
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
            Reply::Done | Reply::Gone | Reply::Info(_) => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        };
        let hold = Arc::new(Hold::new(
            lock.key.clone(),
            attempt.id.clone(),
            mode,
            settings,
            Arc::clone(lock.metrics()),
            token,
            term,
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
