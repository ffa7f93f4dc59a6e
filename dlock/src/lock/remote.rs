//! Acquiring on the server: ask, wait in line, ask again; and the claim, which undoes what was begun unless it is settled.

use std::sync::Arc;
use std::time::Duration;

use super::Commons;
use super::gate::{Acquired, Lead};
use super::handle::Handle;
use super::waiting::{HEARTBEAT, Service, Wait, believe, look_again, pause, place_terms};
use crate::clock::{BootInstant, Instant};
use crate::error::{Error, ErrorKind, TimeoutStep, Written};
use crate::hold::{Granted, Hold, Pending, Start, Terms, WAITER_LEASE};
use crate::key::LockKey;
use crate::metrics::Via;
use crate::protocol::{HoldId, Op, Reply, Stray, validity};
use crate::store::Answer;
use crate::token::ServerToken;

/// How many grants in a row may come too late to be of use.
const LATE: u32 = 3;

/// Acquires on the server. `None` if the lock is not free and the caller does not wait. With
/// `contended` the caller has waited already, and the metrics know. With a `lead` others wait for what comes of it.
pub(super) async fn acquire(
    lock: &Handle,
    terms: &Terms,
    wait: Wait,
    mut contended: bool,
    lead: Option<&Lead>,
) -> Result<Option<Acquired>, Error> {
    let (commons, mode) = (&lock.commons, terms.mode);
    let mut claim = Claim::new(commons, &lock.key, terms);
    let mut op = request(lock, terms, &claim.id);
    // A hold that lingers goes on listening.
    let mut listening = (wait.may_wait() || terms.linger.is_some())
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
        let mut asked = None;
        let answer = match ask(lock, wait, (&mut claim, &op), &mut asked).await {
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
                let asked = asked.unwrap_or(answered);
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
            _ => {
                return Err(Error::unexpected_reply(lock.key.name()));
            }
        };
        if let Some(listening) = listening.as_ref().filter(|_| untold) {
            listening.note(false);
        }
        let granted = claim.granted(token, start);
        let metrics = Arc::clone(lock.metrics());
        let hold = Arc::new(Hold::new(lock.key.clone(), *terms, metrics, granted));
        if hold.deadline() <= hold.granted_at && !commons.is_closed() {
            late += 1;
            if late == LATE {
                return Err(slower_than_lease(lock, terms.lease));
            }
            claim.forgo(&op); // Heard of it too late to be of use; asking again extends it, or gets another.
            continue;
        }
        keep(lock, claim.settle(), &hold, free_since)?;
        return Ok(Some(Acquired::new(hold, &mut listening, queued)));
    }
}

/// The hold is renewed from now on. `free_since` is when this client knew that the lock was free, if it waited for that.
fn keep(
    lock: &Handle,
    pending: Option<Pending>,
    hold: &Arc<Hold>,
    free_since: Option<BootInstant>,
) -> Result<(), Error> {
    lock.commons.keeper.keep(hold)?;
    drop(pending);
    if let Some(free_since) = free_since {
        lock.metrics().handed_over(Via::Server, free_since);
    }
    Ok(())
}

/// The request for a hold, without a queue position.
fn request(lock: &Handle, terms: &Terms, hold: &HoldId) -> Op {
    Op::Acquire {
        hold: hold.clone(),
        mode: terms.mode,
        lease: terms.lease,
        owner: lock.settings.owner.clone(),
        place: None,
    }
}

/// Sends the request; sets when it was, if that can take any time. Whether it was answered decides what has to be done to undo it.
async fn ask(
    lock: &Handle,
    wait: Wait,
    (claim, op): (&mut Claim<'_>, &Op),
    asked: &mut Option<Instant>,
) -> Result<Answer, Error> {
    claim.asks(op);
    let until = || wait.cap(*asked.insert(Instant::now()) + lock.commons.timeouts.retry_for);
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

fn slower_than_lease(lock: &Handle, lease: Duration) -> Error {
    Error::own(
        ErrorKind::Timeout(TimeoutStep::Request),
        format!(
            "lock `{}` was granted {LATE} times, but the answers took longer than the lease of {}; \
             choose a longer lease",
            lock.key.name(),
            Written(lease)
        ),
    )
}

/// Undoes a half-done acquire unless settled: whether the request was queued, granted or never
/// arrived, the server is told to forget it.
#[derive(Debug)]
#[must_use = "dropping the claim abandons the acquire"]
struct Claim<'a> {
    commons: &'a Commons,
    key: &'a LockKey,
    id: HoldId,
    /// How long a hold or a place in the line may last that the server was asked for.
    longest: Duration,
    /// Whether a request is on its way.
    asking: bool,
    /// Until when one that was not answered may still arrive.
    stray_until: Option<BootInstant>,
    pending: Option<Pending>,
}

impl<'a> Claim<'a> {
    fn new(commons: &'a Commons, key: &'a LockKey, terms: &Terms) -> Self {
        let id = commons.next_hold();
        Self {
            commons,
            key,
            id: match terms.linger {
                Some(_) => id.lingering(),
                None => id,
            },
            longest: terms.lease,
            asking: false,
            stray_until: None,
            pending: Some(commons.keeper.begin()),
        }
    }

    /// A request leaves.
    fn asks(&mut self, op: &Op) {
        self.asking = true;
        if let Op::Acquire {
            place: Some(place), ..
        } = op
        {
            self.longest = self.longest.max(place.lease);
        }
    }

    /// The request was answered, perhaps not at the first try.
    fn answered(&mut self, answer: &Answer) {
        self.asking = false;
        if let Reply::GrantedAs(id, _) = &answer.reply {
            self.id = id.clone();
        }
        if answer.resent {
            self.expect_stray();
        }
    }

    /// The request was granted as an attempt that is of no use: the next attempt is another.
    fn forgo(&mut self, op: &Op) {
        if let Op::Acquire { hold, .. } = op
            && self.id != *hold
        {
            let attempt = std::mem::replace(&mut self.id, hold.clone());
            let (keeper, key) = (&self.commons.keeper, self.key.clone());
            keeper.abandon(key, attempt, Stray::None, self.to_undo(), keeper.begin());
        }
    }

    /// The request was not answered.
    fn unanswered(&mut self) {
        self.asking = false;
        self.expect_stray();
    }

    /// How long what it may leave would last, or may still come: a hold, a place in the line, the request.
    fn to_undo(&self) -> Duration {
        self.longest.max(validity(self.commons.timeouts.response))
    }

    /// Twice the time for which a request is valid, as servers' clocks are only estimated.
    fn expect_stray(&mut self) {
        let validity = validity(self.commons.timeouts.response);
        self.stray_until = Some(BootInstant::now() + 2 * validity);
    }

    /// What has come of it.
    fn granted(&self, token: ServerToken, start: Start) -> Granted {
        Granted {
            id: self.id.clone(),
            token,
            start,
            longest: self.longest,
            stray_until: self.stray_until,
        }
    }

    /// The outcome is known and needs no undoing. A shutdown waits for what is returned.
    fn settle(&mut self) -> Option<Pending> {
        self.pending.take()
    }

    /// The answer was no: there is nothing to undo, unless a copy of the request may still be granted.
    fn settle_unless_stray(&mut self) {
        if self.stray_until.is_none() {
            self.settle();
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            let possible = self
                .stray_until
                .is_some_and(|until| BootInstant::now() < until);
            let stray = if self.asking || possible {
                Stray::Possible
            } else {
                Stray::None
            };
            let (key, id) = (self.key.clone(), self.id.clone());
            let keeper = &self.commons.keeper;
            keeper.abandon(key, id, stray, self.to_undo(), pending);
        }
    }
}
