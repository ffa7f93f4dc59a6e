//! The way of an operation that was not answered at once: sent again, after a pause or elsewhere, while there is time.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::caller::Caller;
use super::caller::Entry;
use super::judge::Exchange;
use crate::backoff::Backoff;
use crate::clock::{BootInstant, Instant, sleep_until};
use crate::error::{Error, ErrorKind, TimeoutStep};
use crate::key::LockKey;
use crate::protocol::Op;
use crate::store::Answer;
use crate::store::redis::node::{DialFailure, Node, Session, Trouble, Unsent};
use crate::store::redis::wire::{Form, Keys, Preface};

/// The way of one operation that was not answered at once.
pub(super) struct Route<'a> {
    pub(super) caller: &'a Arc<Caller>,
    pub(super) key: &'a LockKey,
    pub(super) op: &'a Op,
    pub(super) deadline: Instant,
    pub(super) form: Form,
    /// Which keys are named: all, until that turns out to be impossible.
    pub(super) keys: Keys,
    /// Whether the server has said that it does not know the script; twice in a row, and it is sent as its text.
    pub(super) unknown: bool,
    pub(super) as_text: bool,
    /// Where a redirect points, and whether to say `ASKING` there.
    pub(super) next: Option<(Arc<Node>, bool)>,
    pub(super) resent: bool,
    pub(super) hops: u32,
    pub(super) backoff: Backoff,
    pub(super) last: Option<Trouble>,
}

/// What to do after a request in vain.
pub(super) enum Then {
    Again,
    Pause,
}

impl<'a> Route<'a> {
    pub(super) fn new(
        caller: &'a Arc<Caller>,
        key: &'a LockKey,
        op: &'a Op,
        form: Form,
        deadline: Instant,
    ) -> Self {
        Self {
            caller,
            key,
            op,
            deadline,
            form,
            keys: Keys::All,
            unknown: false,
            as_text: false,
            next: None,
            resent: false,
            hops: 0,
            backoff: Backoff::of_request(),
            last: None,
        }
    }

    /// Goes on from the first request, if one was sent, until there is an answer or no time left.
    pub(super) async fn follow(mut self, first: Option<Exchange>) -> Result<Answer, Error> {
        let mut last = first;
        loop {
            let then = match last.take() {
                Some(exchange) => match self.judge(exchange) {
                    ControlFlow::Break(outcome) => return outcome,
                    ControlFlow::Continue(then) => then,
                },
                None => Then::Again,
            };
            if matches!(then, Then::Pause) {
                self.pause().await;
            }
            if Instant::now() >= self.deadline {
                return Err(self.give_up());
            }
            match self.send().await {
                Ok(exchange) => last = Some(exchange),
                Err(Some(error)) => return Err(error),
                // No connection: others may be better informed after a pause.
                Err(None) => self.pause().await,
            }
        }
    }

    /// Waits before the next try. Acquires share a pace, as polling waiters do: very many refused acquires would keep the
    /// server busy, and it may refuse because it is.
    async fn pause(&mut self) {
        let (now, usual) = (Instant::now(), self.backoff.pause());
        let next = if Entry::is_counted(self.op) {
            let (topology, slot) = (self.caller.servers.now(), self.key.slot());
            let node = topology.node(slot);
            node.map_or(now + usual, |node| {
                let next = || node.budget.next_look(now, usual, false);
                let next_try = node.budget.next_try();
                next_try.filter(|at| now < *at).unwrap_or_else(next)
            })
        } else {
            now + usual
        };
        sleep_until(self.deadline.min(next)).await;
    }

    /// Sends the request once; an error if that can never work, `None` if it did not work now.
    async fn send(&mut self) -> Result<Exchange, Option<Error>> {
        let next = self.next.take().or_else(|| {
            let topology = self.caller.servers.now();
            Some((Arc::clone(topology.node(self.key.slot())?), false))
        });
        let Some((node, asking)) = next else {
            self.note(Trouble::Nobody);
            self.caller.env.refresh.request();
            return Err(None);
        };
        let (servers, slot, id) = (&self.caller.servers, self.key.slot(), node.id());
        let owner = servers.node_of(slot);
        let is_owner = !asking && owner == id;
        // The node that a redirect names is wanted whatever the topology says, unless that changes.
        let moved = async || {
            let elsewhere = |now| now != owner && now != id;
            servers.until(|all| elsewhere(all.node_id(slot))).await;
        };
        if is_owner {
            // Before the budget: what waits for a connection is not under way.
            let connected = self.caller.connected_to(&node, self.deadline, moved());
            let connected = connected.await;
            self.connected(connected)?;
        }
        let entry = match Entry::at(&node, self.op, self.deadline, moved()).await {
            Ok(entry) => entry,
            Err(Unsent::Elsewhere) => return Err(None),
            Err(Unsent::Late) => {
                self.note_late(&node);
                return Err(None);
            }
        };
        let connected = node.connected(self.deadline).await;
        let mut session = self.connected(connected)?;
        let (sent, sent_at) = (Instant::now(), BootInstant::now());
        let to = (&*node, asking);
        let form = if std::mem::take(&mut self.as_text) {
            self.form.as_text()
        } else {
            self.form
        };
        let cmd = (self.caller).compose((form, self.keys), self.key, self.op, to, sent_at);
        let patience = self.caller.env.options.patience(sent, self.deadline);
        let late = self.caller.late(&entry, sent, slot, (owner, id));
        let connection = &mut session.connection;
        let result = if asking {
            // Whatever came between the two would use the `ASKING` up.
            connection
                .request_behind(Preface::Asking, cmd, patience, late)
                .await
        } else {
            connection.request_at(sent, &cmd, patience, late).await
        };
        entry.ended(sent, &result);
        Ok(Exchange {
            node,
            asking,
            session,
            sent,
            sent_at,
            result,
        })
    }

    /// What comes of the wait for a connection.
    fn connected(
        &mut self,
        outcome: Result<Session, DialFailure>,
    ) -> Result<Session, Option<Error>> {
        outcome.map_err(|failure| match failure {
            DialFailure::Fatal(error) => Some(error),
            DialFailure::Trouble(trouble) => {
                self.note(trouble);
                self.caller.env.refresh.request();
                None
            }
        })
    }

    /// For the error in the end.
    pub(super) fn note(&mut self, trouble: Trouble) {
        trouble.note(&mut self.last);
    }

    /// The request was not sent in time, as too many were ahead of it.
    pub(super) fn note_late(&mut self, node: &Node) {
        let at = node.address().clone();
        self.note(match node.budget.refusal() {
            Some(error) => Trouble::Refused(at, error),
            None => Trouble::Crowd(at),
        });
    }

    fn give_up(self) -> Error {
        match self.last {
            Some(trouble) => trouble.into_error(),
            None => Error::new(
                ErrorKind::Timeout(TimeoutStep::Request),
                format!(
                    "the deadline of {} passed before a server could answer",
                    self.op.name()
                ),
            ),
        }
    }
}
