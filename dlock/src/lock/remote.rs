//! Acquiring on the server: ask, wait in line, ask again.

use std::sync::Arc;

use tokio::time::Instant;

use super::attempt::Attempt;
use super::hold::Hold;
use super::lease::{Grant, Term};
use super::rw_lock::RwLock;
use super::wait::Wait;
use super::waiting::{HEARTBEAT, after_failure, believe, look_again, pause, place_terms};
use crate::error::{Error, ErrorKind, Step};
use crate::metrics::Via;
use crate::mode::Mode;
use crate::protocol::{HoldId, Nonce, Op, Reply};
use crate::store::Answer;

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
    let nonce = Nonce::of(&attempt.id);
    let mut op = request(lock, mode, &attempt.id);
    let mut listening = wait
        .may_wait()
        .then(|| {
            inner
                .store
                .listen_if_subscribed(&lock.key, &attempt.id, nonce)
        })
        .flatten();
    let mut queued = false;
    let mut late = 0;
    let mut free_since = None;
    loop {
        let asked = Instant::now();
        if let Some(listening) = &listening {
            listening.forget_grant();
        }
        if let Op::Acquire { place, .. } = &mut op {
            *place = place_terms(wait, listening.as_ref(), nonce);
        }
        let answer = match ask(lock, wait, &mut attempt, &op).await {
            Ok(answer) => answer,
            Err(error) => match after_failure(lock, wait, queued, error) {
                Some(error) => return Err(error),
                None => continue,
            },
        };
        let (token, term) = match answer.reply {
            Reply::Granted(token) => (token, Term::Lease(answer.sent_at)),
            Reply::Queued { retry, last, now } => {
                queued = true;
                if !std::mem::replace(&mut contended, true) {
                    lock.metrics().contended(mode);
                }
                let Some(listening) = &listening else {
                    // Whoever released meanwhile could not wake us: look once more.
                    let until = wait.cap(asked + HEARTBEAT);
                    let heard = inner.store.listen(&lock.key, &attempt.id, nonce, until);
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
                match believe(woken.and_then(|woken| woken.granted), &answer, last, now) {
                    Some(token) => (token, Term::Place(answer.sent_at)),
                    // That of an earlier place, which has ended by now, or nothing that a server would say.
                    None => continue,
                }
            }
            Reply::Busy(_) => {
                lock.metrics().contended(mode);
                attempt.settle_unless_stray();
                return Ok(None);
            }
            Reply::WouldDeadlock => {
                // A place in the line from before stays until abandoned.
                if !queued {
                    attempt.settle_unless_stray();
                }
                return Err(would_deadlock(lock));
            }
            Reply::Done | Reply::Gone | Reply::Info(_) | Reply::TooLate(_) | Reply::Again => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        };
        let grant = Grant {
            id: attempt.id.clone(),
            mode,
            token,
            term,
            stray_until: attempt.stray_until(),
        };
        let metrics = Arc::clone(lock.metrics());
        let hold = Arc::new(Hold::new(lock.key.clone(), settings, metrics, grant));
        if hold.deadline() <= hold.granted_at && !inner.is_closed() {
            late += 1;
            if late == LATE {
                return Err(slower_than_lease(lock));
            }
            continue; // Heard of it too late to be of use; asking again extends it.
        }
        let pending = attempt.settle();
        keep(lock, &hold)?;
        drop(pending);
        if let Some(free_since) = free_since {
            lock.metrics().handed_over(Via::Server, free_since);
        }
        return Ok(Some(hold));
    }
}

/// What is asked for, without a place in the line.
fn request(lock: &RwLock, mode: Mode, hold: &HoldId) -> Op {
    Op::Acquire {
        hold: hold.clone(),
        mode,
        lease: lock.settings.lease,
        owner: lock.settings.owner.clone(),
        place: None,
    }
}

/// Sends the request. Whether it was answered decides what has to be done to undo it.
async fn ask(
    lock: &RwLock,
    wait: Wait,
    attempt: &mut Attempt<'_>,
    op: &Op,
) -> Result<Answer, Error> {
    let inner = &lock.inner;
    let until = wait.cap(Instant::now() + inner.config.retry_for);
    attempt.asks();
    let outcome = inner.store.call(&lock.key, op, until).await;
    match &outcome {
        Ok(answer) => attempt.answered(answer),
        Err(_) => attempt.unanswered(),
    }
    outcome
}

/// From now on the hold is renewed.
fn keep(lock: &RwLock, hold: &Arc<Hold>) -> Result<(), Error> {
    if lock.inner.renewals.add(hold) {
        return Ok(());
    }
    lock.inner.releaser.release(hold);
    Err(Error::closed())
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
