//! Acquiring on the server: ask, wait in line, ask again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::attempt::Attempt;
use super::hold::Hold;
use super::rw_lock::RwLock;
use super::wait::Wait;
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind, Step};
use crate::metrics::Via;
use crate::mode::Mode;
use crate::protocol::{Op, Reply};
use crate::store::Listening;

/// How long a place in the line is kept without a refresh: how long a dead waiter can hold up
/// those behind it.
const WAITER_LEASE: Duration = Duration::from_secs(1);
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
        match answer.reply {
            Reply::Granted(token) => {
                let hold = Arc::new(Hold::new(
                    lock.key.clone(),
                    attempt.id.clone(),
                    mode,
                    settings,
                    Arc::clone(lock.metrics()),
                    token,
                    answer.sent_at,
                ));
                if hold.deadline() <= BootInstant::now() && !inner.is_closed() {
                    late += 1;
                    if late == LATE {
                        return Err(slower_than_lease(lock));
                    }
                    continue; // Answered too late to be of use; asking again extends it.
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
            Reply::Queued(retry) => {
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
                let again = look_again(asked, retry, listening.is_subscribed());
                free_since = pause(lock, wait, again, listening).await?;
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
                return Err(Error::new(
                    ErrorKind::WouldDeadlock,
                    format!(
                        "this owner reads lock `{}` beside other readers and asks to write: \
                         release the read hold first, or start with a write hold",
                        lock.key.name()
                    ),
                ));
            }
            Reply::Done | Reply::Gone | Reply::Info(_) => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        }
    }
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

/// Sleeps until woken or `again`; an error when the caller's patience or the client ends first.
/// When a message came, which means that the lock was free then.
async fn pause(
    lock: &RwLock,
    wait: Wait,
    again: Instant,
    listening: &Listening,
) -> Result<Option<BootInstant>, Error> {
    let until = wait.cap(again);
    tokio::select! {
        () = listening.woken() => {
            lock.metrics().woken("message");
            return Ok(Some(lock.metrics().now()));
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
