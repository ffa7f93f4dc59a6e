//! Acquiring: through the gate of this process to the server.

use super::gate::{Entry, Lead, Place, Share, Turn};
use super::handle::Handle;
use super::remote;
use super::waiting::Wait;
use crate::clock::{Instant, sleep_until, timeout_at};
use crate::error::Error;
use crate::hold::Terms;
use crate::kind::LockMode;
use crate::metrics::Via;
use crate::protocol::{Op, Reply};
use crate::trace::AcquireTrace;

impl Handle {
    /// Acquires. `None` if the lock is not free and the caller does not wait.
    pub(crate) async fn acquire(&self, mode: LockMode, wait: Wait) -> Result<Option<Share>, Error> {
        acquire(self, mode, wait).await
    }

    /// Acquires with a wait, so that there is never nothing.
    pub(super) async fn always(&self, mode: LockMode, wait: Wait) -> Result<Share, Error> {
        let share = acquire(self, mode, wait).await?;
        share.ok_or_else(|| Error::unexpected_reply(self.key.name()))
    }
}

/// Acquires. `None` if the lock is not free and the caller does not wait.
async fn acquire(lock: &Handle, mode: LockMode, wait: Wait) -> Result<Option<Share>, Error> {
    let wait = wait.begin();
    let watch = lock.metrics().acquire_began(mode);
    let trace = AcquireTrace::new(&lock.key, mode);
    let mut outcome = trace.follow(take_hold(lock, mode, wait)).await;
    // A caller that was granted the lock after a drain began is turned away, too.
    if outcome.is_ok()
        && let Err(closed) = lock.commons.check_open()
    {
        outcome = Err(closed);
    }
    match outcome {
        Ok(Some(mut share)) => {
            let since = watch.acquired();
            let held = trace.held(&lock.key, mode, share.token());
            share.report_to(lock.metrics(), since, held);
            Ok(Some(share))
        }
        Ok(None) => {
            watch.busy();
            trace.busy();
            Ok(None)
        }
        Err(error) => {
            watch.failed(&error);
            trace.failed(&error);
            Err(error)
        }
    }
}

/// Takes a hold of this process, or gets one from the server.
async fn take_hold(lock: &Handle, mode: LockMode, wait: Wait) -> Result<Option<Share>, Error> {
    lock.settings.check()?;
    loop {
        lock.commons.check_open()?;
        if lock.settings.owner.is_some() {
            // Re-entry is for the server to judge, so explicit owners do not share.
            return alone(lock, mode, wait).await;
        }
        let gates = &lock.commons.gates;
        let mut terms = lock.settings.terms(lock.key.kind(), mode);
        if let Some(linger) = lock.settings.lingers()
            && lock.commons.may_linger(&lock.key)?
        {
            terms = terms.lingering(linger);
        }
        let entry = gates.enter(&lock.key, terms, wait.may_wait());
        let contended = !matches!(entry, Entry::Turn(_));
        let turn = match entry {
            Entry::Turn(turn) => turn,
            Entry::Wait(place) => {
                lock.metrics().contended(mode);
                wait_for_turn(place, wait).await?
            }
            Entry::Busy => {
                lock.metrics().contended(mode);
                return Ok(None);
            }
            Entry::Alone => return alone(lock, mode, wait).await,
        };
        match turn {
            Turn::Granted(share) if contended => {
                lock.metrics().passed_on();
                report_handover(lock, &share);
                // The process may have been stopped since the task before left. A hold that was just granted needs no look at
                // the clock.
                match share.hold().check() {
                    Err(lost) if lost.is_lost() && wait.may_wait() && !wait.is_over() => {}
                    live => return live.map(|()| Some(share)),
                }
            }
            Turn::Granted(share) => return Ok(Some(share)),
            Turn::Lead(lead) => return ask(lock, lead, &terms, wait, contended).await,
            Turn::Failed(error) => return Err(error),
        }
    }
}

/// Asks the server past the gate, for a hold that is not shared.
async fn alone(lock: &Handle, mode: LockMode, wait: Wait) -> Result<Option<Share>, Error> {
    let terms = lock.settings.terms(lock.key.kind(), mode);
    let acquired = remote::acquire(lock, &terms, wait, false, None).await?;
    Ok(acquired.map(|acquired| Share::whole(&lock.commons.gates, acquired.hold)))
}

/// Waits in the local line. When the client is closed, the gate itself tells all tasks in it.
async fn wait_for_turn(mut place: Place, wait: Wait) -> Result<Turn, Error> {
    let patience = async {
        match wait {
            Wait::Until(until, waited) => {
                sleep_until(until).await;
                waited
            }
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        turn = place.turn() => Ok(turn),
        waited = patience => Err(place.gave_up(waited)),
    }
}

/// Asks the server for this process: first to go on with a hold at the end of its slice, then
/// for a new one.
async fn ask(
    lock: &Handle,
    mut lead: Lead,
    terms: &Terms,
    wait: Wait,
    contended: bool,
) -> Result<Option<Share>, Error> {
    if let Some(share) = lead.take_share() {
        let yields = lock.key.kind().features().yields;
        if yields && share.hold().terms == *terms {
            if let Some(share) = another_slice(lock, share, wait).await {
                lead.slice_granted(share.hold());
                report_handover(lock, &share);
                return Ok(Some(share));
            }
        } else {
            // The hold lingered under other terms than this task's, or programs that poll the mutex now and then shall find it
            // free. A release that is late goes on in the background.
            let until = wait.cap(Instant::now() + lock.commons.timeouts.response);
            let _ = timeout_at(until, share.release()).await;
            let aside = || lock.commons.store.aside(&lock.key, lead.had_for());
            if let Some(pause) = (!yields).then(aside).flatten() {
                lead.steps_aside();
                sleep_until(wait.cap(Instant::now() + pause)).await;
            }
        }
    }
    match remote::acquire(lock, terms, wait, contended, Some(&lead)).await {
        Ok(Some(acquired)) => Ok(Some(lead.hold_granted(acquired))),
        Ok(None) => Ok(None),
        Err(error) => {
            // Other waiters have their own timeout and lease, but the same servers.
            if !(wait.is_over() || error.is_deferred() || error.is_own()) {
                lead.refused(&error);
            }
            Err(error)
        }
    }
}

/// Readers are let in by a grant to their process, not by a release.
fn report_handover(lock: &Handle, share: &Share) {
    if share.hold().terms.mode == LockMode::Write {
        lock.metrics().handed_over(Via::Process, share.free_since());
    }
}

/// Asks the server whether another process waits. If none does, the share comes back with a fresh token. Otherwise the hold
/// has been released, or (for readers) is left to the tasks that still read.
async fn another_slice(lock: &Handle, mut share: Share, wait: Wait) -> Option<Share> {
    let hold = share.hold();
    let seen = hold.named_token();
    let op = Op::Yield {
        hold: hold.id.clone(),
        lease: hold.terms.lease,
        seen,
        stray: hold.stray(),
        spent: hold.spent(),
    };
    let deadline = || wait.cap(Instant::now() + lock.commons.timeouts.response);
    // On any doubt the share is dropped here, which gives the hold back.
    if hold.terms.mode == LockMode::Write {
        hold.begin_yield();
    }
    let answer = lock
        .commons
        .store
        .call(&lock.key, &op, deadline)
        .await
        .ok()?;
    match answer.reply {
        // A server that names no later token has forgotten the last one, and takes this for a delayed duplicate: the hold is
        // not used.
        Reply::Granted(token) if token > seen && hold.extend(answer.sent_at) => {
            if hold.terms.mode == LockMode::Write && !hold.end_yield() {
                return None; // It was removed after the server had answered.
            }
            hold.raise_token(token);
            if hold.terms.mode == LockMode::Write {
                hold.restart_max_hold(answer.sent_at);
                share.renew_token();
            }
            Some(share)
        }
        Reply::Done if hold.terms.mode == LockMode::Write => {
            share.yielded();
            None
        }
        _ => None,
    }
}
