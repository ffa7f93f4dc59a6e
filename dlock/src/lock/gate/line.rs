//! What a gate keeps about one lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Lead;
use crate::client::Inner;
use crate::clock::BootInstant;
use crate::error::Error;
use crate::lock::Settings;
use crate::lock::holding::Holding;
use crate::lock::shared_hold::SharedHold;
use crate::mode::Mode;

/// What two tasks must agree on to share a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lock) struct Terms {
    pub(in crate::lock) mode: Mode,
    lease: Duration,
    max_hold: Option<Duration>,
}

impl Terms {
    pub(in crate::lock) fn new(mode: Mode, settings: &Settings) -> Self {
        Self {
            mode,
            lease: settings.lease,
            max_hold: settings.max_hold,
        }
    }

    /// Readers stand on one hold together, unless each has a time limit of its own.
    pub(super) fn shareable(&self) -> bool {
        self.mode == Mode::Read && self.max_hold.is_none()
    }
}

/// What a waiting task is told.
#[derive(Debug)]
pub(in crate::lock) enum Turn {
    /// The lock is yours.
    Granted(Holding),
    /// It is up to you to ask the server.
    Lead(Lead),
    /// Who asked the server for all of you was refused.
    Failed(Error),
}

/// A task waiting for its turn.
#[derive(Debug)]
struct Waiter {
    terms: Terms,
    sender: oneshot::Sender<Turn>,
}

/// One lock's local state. It exists while somebody holds, asks or waits.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The hold that local tasks may join or take over.
    pub(super) current: Option<(Arc<SharedHold>, Terms)>,
    /// Whether a task is asking the server.
    pub(super) led: bool,
    waiting: BTreeMap<u64, Waiter>,
    next_ticket: u64,
}

impl Line {
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && !self.led && self.waiting.is_empty()
    }

    pub(super) fn nobody_waits(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, terms: Terms) -> (u64, oneshot::Receiver<Turn>) {
        let (sender, receiver) = oneshot::channel();
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.insert(ticket, Waiter { terms, sender });
        (ticket, receiver)
    }

    pub(super) fn remove(&mut self, ticket: u64) {
        self.waiting.remove(&ticket);
    }

    /// Passes the current write hold to the next task in line, if that wants the same. While the
    /// slice lasts it is simply theirs; afterwards they ask the server first. Whether it went.
    pub(super) fn pass_on(&mut self, inner: &Arc<Inner>) -> bool {
        let Some((shared, terms)) = self.current.take() else {
            return false;
        };
        // The clock is looked at only when somebody waits.
        if self.waiting.is_empty() || terms.mode != Mode::Write || self.led || !shared.is_healthy()
        {
            return false;
        }
        let open = shared.slice_is_open();
        let now = BootInstant::now();
        shared.pass_on(now);
        let mut holding = None;
        while let Some(first) = self.waiting.first_entry() {
            if first.get().terms != terms {
                break;
            }
            let waiter = first.remove();
            let next = holding.take().unwrap_or_else(|| {
                shared.add_user();
                let token = shared.hold.next_token();
                Holding::new(Arc::clone(inner), Arc::clone(&shared), token)
            });
            let turn = if open {
                shared.hold.restart_max_hold(now);
                Turn::Granted(next)
            } else {
                Turn::Lead(Lead::new(inner, &shared.hold.key, Some(next)))
            };
            match waiter.sender.send(turn) {
                Ok(()) => {
                    self.led = !open;
                    self.current = open.then_some((shared, terms));
                    return true;
                }
                Err(Turn::Granted(back)) => holding = Some(back),
                Err(Turn::Lead(lead)) => holding = lead.dissolve(),
                Err(Turn::Failed(_)) => {}
            }
        }
        if let Some(back) = holding {
            // Nobody took it: undo the bookkeeping without asking the gate, whose lock is ours.
            back.forget();
            shared.remove_user();
        }
        false
    }

    /// Lets every waiting reader onto the read hold just granted, wherever in the line they are.
    pub(super) fn admit_readers(&mut self, inner: &Arc<Inner>) {
        let Some((shared, terms)) = &self.current else {
            return;
        };
        if !terms.shareable() {
            return;
        }
        let readers: Vec<u64> = self
            .waiting
            .iter()
            .filter(|(_, waiter)| waiter.terms == *terms)
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in readers {
            let Some(waiter) = self.waiting.remove(&ticket) else {
                continue;
            };
            shared.add_user();
            let token = shared.hold.last_token();
            let holding = Holding::new(Arc::clone(inner), Arc::clone(shared), token);
            if let Err(Turn::Granted(back)) = waiter.sender.send(Turn::Granted(holding)) {
                back.forget();
                shared.remove_user();
            }
        }
    }

    /// Has the next task in line ask the server, unless it has to wait for a local writer.
    pub(super) fn appoint(&mut self, inner: &Arc<Inner>, key: &crate::key::LockKey) {
        let writing = self
            .current
            .as_ref()
            .is_some_and(|(_, terms)| terms.mode == Mode::Write);
        if self.led || writing {
            return;
        }
        while let Some((_, waiter)) = self.waiting.pop_first() {
            match waiter.sender.send(Turn::Lead(Lead::new(inner, key, None))) {
                Ok(()) => {
                    self.led = true;
                    return;
                }
                Err(Turn::Lead(lead)) => {
                    lead.dissolve();
                }
                Err(_) => {}
            }
        }
    }

    /// Tells everybody why the server could not be asked.
    pub(super) fn fail_all(&mut self, error: &Error) {
        while let Some((_, waiter)) = self.waiting.pop_first() {
            let _ = waiter.sender.send(Turn::Failed(error.clone()));
        }
    }
}
