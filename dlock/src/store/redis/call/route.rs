//! The way of an operation that was not answered at once: sent again, after a pause or elsewhere, while there is time; and what
//! an answer, or none, means for that way: redirects, refusals, pauses.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::caller::{Caller, Entry, Exchange, answered, unknown_answer};
use crate::backoff::Backoff;
use crate::clock::{BootInstant, Instant, sleep_until};
use crate::error::{Error, ErrorKind, TimeoutStep};
use crate::key::LockKey;
use crate::protocol::{Op, Reply};
use crate::store::Answer;
use crate::store::redis::address::Address;
use crate::store::redis::node::{DialFailure, NoAnswer, Node, Session, Trouble, Unsent, fatal};
use crate::store::redis::wire::{
    Form, Keys, Preface, Refusal, ServerError, decode, unless_refused,
};

/// Redirects followed without a pause; more of them in a row mean that nodes disagree.
const HOPS: u32 = 4;

/// The way of one operation that was not answered at once.
pub(super) struct Route<'a> {
    caller: &'a Arc<Caller>,
    key: &'a LockKey,
    op: &'a Op,
    deadline: Instant,
    form: Form,
    /// Which keys are named: all, until that turns out to be impossible.
    keys: Keys,
    /// Whether the server has said that it does not know the script; twice in a row, and it is sent as its text.
    unknown: bool,
    as_text: bool,
    /// Where a redirect points, and whether to say `ASKING` there.
    next: Option<(Arc<Node>, bool)>,
    resent: bool,
    hops: u32,
    backoff: Backoff,
    last: Option<Trouble>,
}

/// What to do after a request in vain.
enum Then {
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
    fn note(&mut self, trouble: Trouble) {
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

impl Route<'_> {
    /// The outcome, or how to go on.
    fn judge(&mut self, exchange: Exchange) -> ControlFlow<Result<Answer, Error>, Then> {
        let node = exchange.node;
        let value = match exchange.result {
            Ok(value) => value,
            Err(no_answer) => {
                self.resent = true;
                self.unanswered(&node, &exchange.session, exchange.sent, no_answer);
                return ControlFlow::Continue(Then::Pause);
            }
        };
        node.answered();
        let value = match unless_refused(value) {
            Ok(value) => value,
            Err(error) => return self.refused(&node, exchange.asking, exchange.sent_at, error),
        };
        if self.form.falls_short(&value) {
            self.caller.crowds.mark(self.key, Instant::now());
            self.form = Form::contended(self.key, self.op);
            return ControlFlow::Continue(Then::Again);
        }
        let Some(reply) = decode(self.op, &value) else {
            return ControlFlow::Break(Err(unknown_answer(&node, self.key, self.op)));
        };
        match reply {
            Reply::Again => ControlFlow::Continue(Then::Again),
            Reply::TooLate(time) => {
                node.time.learn(time, BootInstant::now());
                // Once is for a time that was not known; a request that is on its way for so long has trouble.
                ControlFlow::Continue(self.hop())
            }
            reply => {
                self.caller.heed(self.key, self.op, &value, self.form);
                answered(&node, &reply, exchange.sent_at);
                ControlFlow::Break(Ok(Answer {
                    reply,
                    from: node.id().origin(),
                    sent_at: exchange.sent_at,
                    resent: self.resent,
                }))
            }
        }
    }

    fn unanswered(&mut self, node: &Arc<Node>, session: &Session, sent: Instant, why: NoAnswer) {
        let env = &self.caller.env;
        env.stats.unanswered.count();
        env.refresh.request();
        self.note(node.unanswered(session, sent, why));
    }

    fn refused(
        &mut self,
        node: &Arc<Node>,
        asking: bool,
        sent_at: BootInstant,
        error: ServerError,
    ) -> ControlFlow<Result<Answer, Error>, Then> {
        let env = &self.caller.env;
        let then = match Refusal::of(&error, node.address()) {
            Refusal::Moved(to) => {
                env.stats.moved.count();
                env.refresh.request_after_redirect(node.address());
                return ControlFlow::Continue(self.redirect(node, to, false, error));
            }
            Refusal::Ask(to) => {
                env.stats.asked.count();
                return ControlFlow::Continue(self.redirect(node, to, true, error));
            }
            Refusal::NoScript => {
                env.stats.no_script.count();
                if let Some(script) = self.form.script() {
                    node.taught.forget(script, sent_at);
                }
                (self.as_text, self.unknown) = (self.unknown, !self.unknown);
                // By way of the slot's owner: what it said of the slot may have changed since.
                if !asking {
                    self.next = Some((Arc::clone(node), false));
                }
                let at = node.address().clone();
                let then = self.hop();
                self.note(match then {
                    Then::Again => Trouble::Unknown(at, error),
                    Then::Pause => Trouble::Refused(at, error),
                });
                return ControlFlow::Continue(then);
            }
            Refusal::ReadOnly => {
                env.stats.read_only.count();
                env.refresh.request();
                Then::Pause
            }
            Refusal::Parted if self.leaves_hash_out() => {
                self.keys = Keys::First;
                return ControlFlow::Continue(self.hop());
            }
            Refusal::Later | Refusal::Parted => {
                env.stats.deferred.count();
                env.refresh.request();
                Then::Pause
            }
            Refusal::Fatal(kind) => {
                let (key, script) = (self.key.as_str(), self.form.script());
                return ControlFlow::Break(Err(fatal(kind, &error, node, key, script)));
            }
        };
        self.note(Trouble::Refused(node.address().clone(), error));
        ControlFlow::Continue(then)
    }

    /// Whether the operation can do without the hash beside a mutex while a slot moves: there is no line then. A token cannot
    /// be granted without it.
    fn leaves_hash_out(&self) -> bool {
        let needs_token = self.key.kind().has_tokens()
            && matches!(self.op, Op::Acquire { .. } | Op::Raise { .. });
        self.key.kind().features().is_string && self.keys == Keys::All && !needs_token
    }

    /// Goes where the node points, unless that is no address, or a server that must not get our password.
    fn redirect(
        &mut self,
        by: &Node,
        to: Option<Address>,
        asking: bool,
        error: ServerError,
    ) -> Then {
        let (servers, at) = (&self.caller.servers, by.address());
        match to {
            // Only clusters have reason to redirect.
            Some(to) if servers.is_cluster() => {
                if self.caller.env.options.trusts(&to, at) {
                    self.next = Some((servers.node_at(to), asking));
                    let then = self.hop();
                    // One that is followed at once is no reason against the node.
                    if matches!(then, Then::Pause) {
                        self.note(Trouble::Refused(at.clone(), error));
                    }
                    return then;
                }
                let by = at.clone();
                self.note(Trouble::Stranger { by, named: to });
            }
            _ => self.note(Trouble::Refused(at.clone(), error)),
        }
        Then::Pause
    }

    /// At once, but not for ever.
    fn hop(&mut self) -> Then {
        self.hops += 1;
        if self.hops <= HOPS {
            Then::Again
        } else {
            Then::Pause
        }
    }
}
