//! Acquiring on the server: ask, wait in line, ask again.

use std::sync::Arc;

use super::claim::Claim;
use super::gate::Lead;
use super::handle::Handle;
use super::waiting::Wait;
use super::waiting::{HEARTBEAT, Service, believe, look_again, pause, place_terms};
use crate::clock::Instant;
use crate::error::{Error, ErrorKind, TimeoutStep, Written};
use crate::hold::{Hold, Start, WAITER_LEASE};
use crate::metrics::Via;
use crate::mode::LockMode;
use crate::protocol::{HoldId, Op, Reply};
use crate::store::Answer;

/// How many grants in a row may come too late to be of use.
const LATE: u32 = 3;

/// Acquires on the server. `None` if the lock is not free and the caller does not wait. With
/// `contended` the caller has waited already, and the metrics know. With a `lead` others wait for what comes of it.
pub(super) async fn acquire(
    lock: &Handle,
    mode: LockMode,
    wait: Wait,
    mut contended: bool,
    lead: Option<&Lead>,
) -> Result<Option<Arc<Hold>>, Error> {
    let commons = &lock.commons;
    let terms = lock.settings.terms(lock.key.kind(), mode);
    let mut claim = Claim::new(commons, &lock.key, terms.lease);
    let mut op = request(lock, mode, &claim.id);
    let mut listening = wait
        .may_wait()
        .then(|| commons.store.listen_if_subscribed(&lock.key, &claim.id))
        .flatten();
    let mut queued = false;
    let mut service = Service::new(lock, wait, lead);
    let mut late = 0;
    // Whether it was asked again although no message had come and no lease was to end.
    let mut untold = false;
    let mut free_since = None;
    loop {
        let terms_of_place = place_terms(lock, wait, listening.as_ref(), queued);
        let place_lease = terms_of_place.map_or(WAITER_LEASE, |place| place.lease);
        if let Op::Acquire { place, .. } = &mut op {
            *place = terms_of_place;
        }
        let asked = Instant::now();
        let answer = match ask(lock, wait, (&mut claim, &op), asked).await {
            Ok(answer) => answer,
            Err(error) => match service.failed(error) {
                Some(error) => return Err(error),
                None => continue,
            },
        };
        let (token, start) = match answer.reply {
            Reply::Granted(token) | Reply::GrantedAs(_, token) => {
                (token, Start::Lease(answer.sent_at))
            }
            Reply::Queued { retry, last, now } => {
                queued = true;
                let answered = Instant::now();
                service.taken(answered);
                if !std::mem::replace(&mut contended, true) {
                    lock.metrics().contended(mode);
                }
                let again = |beat| look_again(lock, (asked, answered), retry, place_lease, beat);
                let Some(listening) = &listening else {
                    // A holder that released meanwhile could not wake this waiter: look once more.
                    let until = wait.cap(again(Some(HEARTBEAT)));
                    let heard = commons.store.listen(&lock.key, &claim.id, until);
                    listening = Some(heard.await);
                    continue;
                };
                if answer.resent {
                    // A grant may be from a server that has failed, to which the request was sent first.
                    listening.distrust();
                }
                let again = again(service.heartbeat(listening, answered - asked));
                let woken = pause(lock, wait, again, listening).await?;
                untold = woken.is_none() && again < answered + retry;
                if woken.is_some() {
                    listening.note(true);
                }
                free_since = woken.as_ref().map(|woken| woken.at);
                match believe(woken.and_then(|woken| woken.granted), &answer, last, now) {
                    Some(token) => (token, Start::Place(answer.sent_at, place_lease)),
                    // The grant of an earlier place, which has ended by now, or a forged one.
                    None => continue,
                }
            }
            Reply::Busy(_) => {
                lock.metrics().contended(mode);
                claim.settle_unless_stray();
                return Ok(None);
            }
            Reply::WouldDeadlock => {
                // A place in the line from before stays until abandoned.
                if !queued {
                    claim.settle_unless_stray();
                }
                return Err(would_deadlock(lock));
            }
            Reply::Done | Reply::Gone | Reply::Info(_) | Reply::TooLate(_) | Reply::Again => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        };
        if let Some(listening) = listening.as_ref().filter(|_| untold) {
            listening.note(false);
        }
        let granted = claim.granted(token, start);
        let metrics = Arc::clone(lock.metrics());
        let hold = Arc::new(Hold::new(lock.key.clone(), terms, metrics, granted));
        if hold.deadline() <= hold.granted_at && !commons.is_closed() {
            late += 1;
            if late == LATE {
                return Err(slower_than_lease(lock));
            }
            claim.forgo(&op); // Heard of it too late to be of use; asking again extends it, or gets another.
            continue;
        }
        let pending = claim.settle();
        commons.keeper.keep(&hold)?;
        drop(pending);
        if let Some(free_since) = free_since {
            lock.metrics().handed_over(Via::Server, free_since);
        }
        return Ok(Some(hold));
    }
}

/// The request for a hold, without a queue position.
fn request(lock: &Handle, mode: LockMode, hold: &HoldId) -> Op {
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
    lock: &Handle,
    wait: Wait,
    (claim, op): (&mut Claim<'_>, &Op),
    now: Instant,
) -> Result<Answer, Error> {
    claim.asks(op);
    let until = || wait.cap(now + lock.commons.timeouts.retry_for);
    let outcome = lock.commons.store.call(&lock.key, op, until).await;
    match &outcome {
        Ok(answer) => claim.answered(answer),
        Err(_) => claim.unanswered(),
    }
    outcome
}

fn would_deadlock(lock: &Handle) -> Error {
    Error::new(
        ErrorKind::WouldDeadlock,
        format!(
            "this owner reads lock `{}` beside other readers and asks to write: release the read \
             hold first, or start with a write hold",
            lock.key.name()
        ),
    )
}

fn slower_than_lease(lock: &Handle) -> Error {
    Error::own(
        ErrorKind::Timeout(TimeoutStep::Request),
        format!(
            "lock `{}` was granted {LATE} times, but the answers took longer than the lease of {}; \
             choose a longer lease",
            lock.key.name(),
            Written(lock.settings.lease)
        ),
    )
}
