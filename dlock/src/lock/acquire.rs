//! Acquiring: through the gate of this process to the server.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::gate::{Entry, Lead, Queued, Terms, Turn};
use super::holding::Holding;
use super::remote;
use super::rw_lock::RwLock;
use super::shared_hold::SharedHold;
use super::wait::Wait;
use crate::error::Error;
use crate::metrics::Via;
use crate::mode::Mode;
use crate::protocol::{Op, Reply};
use crate::trace::AcquireTrace;

/// Acquires. `None` if the lock is not free and the caller does not wait.
pub(super) async fn acquire(
    lock: &RwLock,
    mode: Mode,
    wait: Wait,
) -> Result<Option<Holding>, Error> {
    let watch = lock.metrics().acquire_began(mode);
    let trace = AcquireTrace::new(&lock.key, mode);
    let outcome = trace.follow(find_a_way(lock, mode, wait)).await;
    match outcome {
        Ok(Some(mut holding)) => {
            let since = watch.acquired();
            let held = trace.held(&lock.key, mode, holding.token);
            holding.report_to(lock.metrics(), since, held);
            Ok(Some(holding))
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

async fn find_a_way(lock: &RwLock, mode: Mode, wait: Wait) -> Result<Option<Holding>, Error> {
    lock.settings.check()?;
    lock.inner.check_open()?;
    if lock.settings.owner.is_some() {
        // Re-entry is for the server to judge, so explicit owners do not share.
        return alone(lock, mode, wait).await;
    }
    let terms = Terms::new(mode, &lock.settings);
    let entry = lock
        .inner
        .gates
        .enter(&lock.inner, &lock.key, terms, wait.may_wait());
    match entry {
        Entry::Granted(holding) => Ok(Some(holding)),
        Entry::Busy => {
            lock.metrics().contended(mode);
            Ok(None)
        }
        Entry::Alone => alone(lock, mode, wait).await,
        Entry::Closed => Err(Error::closed()),
        Entry::Lead(lead) => ask(lock, lead, terms, wait, false).await,
        Entry::Queued(queued) => {
            lock.metrics().contended(mode);
            match turn(lock, queued, wait).await? {
                Turn::Granted(holding) => {
                    lock.metrics().passed_on();
                    report_handover(lock, &holding);
                    Ok(Some(holding))
                }
                Turn::Lead(lead) => ask(lock, lead, terms, wait, true).await,
                Turn::Failed(error) => Err(error),
            }
        }
    }
}

/// Asks the server past the gate, for a hold that is not shared.
async fn alone(lock: &RwLock, mode: Mode, wait: Wait) -> Result<Option<Holding>, Error> {
    let hold = remote::acquire(lock, mode, wait, false).await?;
    Ok(hold.map(|hold| {
        let token = hold.last_token();
        let inner = Arc::clone(&lock.inner);
        Holding::new(inner, SharedHold::new(hold, false), token)
    }))
}

/// Waits in the local line.
async fn turn(lock: &RwLock, mut queued: Queued, wait: Wait) -> Result<Turn, Error> {
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
        turn = queued.turn() => Ok(turn),
        waited = patience => Err(Error::timed_out_waiting(lock.key.name(), waited)),
        () = lock.inner.closed() => Err(Error::closed()),
    }
}

/// Asks the server for this process: first to go on with a hold at the end of its slice, then
/// for a new one.
async fn ask(
    lock: &RwLock,
    mut lead: Lead,
    terms: Terms,
    wait: Wait,
    contended: bool,
) -> Result<Option<Holding>, Error> {
    if let Some(holding) = lead.take_holding()
        && let Some(holding) = carry_on(lock, holding, wait).await
    {
        lead.carry_on(&holding, terms);
        report_handover(lock, &holding);
        return Ok(Some(holding));
    }
    match remote::acquire(lock, terms.mode, wait, contended).await {
        Ok(Some(hold)) => Ok(lead.granted(hold, terms)),
        Ok(None) => Ok(None),
        Err(error) => {
            // Others who wait have their own patience, but not other servers.
            lead.failed((!wait.is_over()).then_some(&error));
            Err(error)
        }
    }
}

/// Readers are let in by a grant to their process, not by a release.
fn report_handover(lock: &RwLock, holding: &Holding) {
    if holding.hold().mode == Mode::Write {
        let free_since = holding.shared.passed_on_at();
        lock.metrics().handed_over(Via::Process, free_since);
    }
}

/// Asks whether anybody waits elsewhere. The hold, with a fresh token, if nobody does; otherwise
/// it has been given up, or (for readers) is left to those who still read.
async fn carry_on(lock: &RwLock, mut holding: Holding, wait: Wait) -> Option<Holding> {
    let hold = holding.hold();
    let op = Op::Yield {
        hold: hold.id.clone(),
        handed: hold.handed(),
        lease: hold.lease,
        seen: hold.named_token(),
        stray: hold.stray(),
    };
    let deadline = wait.cap(Instant::now() + lock.inner.config.response_timeout);
    // On any doubt the hold is dropped here, which gives it back.
    hold.set_yielding(true);
    let answer = lock.inner.store.call(&lock.key, &op, deadline).await.ok()?;
    match answer.reply {
        Reply::Granted(token) if hold.extend(answer.sent_at) => {
            hold.set_yielding(false);
            hold.raise_token(token);
            if hold.mode == Mode::Write {
                hold.restart_max_hold(answer.sent_at);
                holding.token = hold.next_token();
            }
            Some(holding)
        }
        Reply::Done if hold.mode == Mode::Write => {
            holding.disarm();
            None
        }
        _ => None,
    }
}
