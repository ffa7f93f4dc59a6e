//! What an answer, or none, means for the way of an operation: redirects, refusals, pauses.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::route::{Route, Then};
use crate::clock::{BootInstant, Instant};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::protocol::{Op, Reply};
use crate::store::Answer;
use crate::store::redis::address::Address;
use crate::store::redis::node::{NoAnswer, Node, Session, Trouble, fatal};
use crate::store::redis::wire::{Form, Keys, Refusal, ServerError, Value, decode, unless_refused};
use crate::token::ServerToken;

/// Redirects followed without a pause; more of them in a row mean that nodes disagree.
const HOPS: u32 = 4;

impl Route<'_> {
    /// The outcome, or how to go on.
    pub(super) fn judge(&mut self, exchange: Exchange) -> ControlFlow<Result<Answer, Error>, Then> {
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
            self.caller.crowds.mark(self.key.slot(), Instant::now());
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

/// A request that was sent.
pub(super) struct Exchange {
    pub(super) node: Arc<Node>,
    pub(super) asking: bool,
    pub(super) session: Session,
    pub(super) sent: Instant,
    /// When the request was sent, by the clock from which a lease that it grants is counted.
    pub(super) sent_at: BootInstant,
    pub(super) result: Result<Value, NoAnswer>,
}

/// Whether the request has to be sent again at once.
pub(super) fn wants_another(reply: &Reply) -> bool {
    matches!(reply, Reply::Again | Reply::TooLate(_))
}

/// What an answer tells about the node.
pub(super) fn answered(node: &Node, reply: &Reply, sent_at: BootInstant) {
    node.answered();
    if let Reply::Granted(token) = reply
        && *token != ServerToken::NONE
    {
        node.time.bound(token.as_u64(), sent_at);
    }
}

/// The error for an answer that no operation has.
pub(super) fn unknown_answer(node: &Node, key: &LockKey, op: &Op) -> Error {
    let (op, at) = (op.name(), node.address());
    Error::new(
        ErrorKind::Server,
        format!("Redis at {at} gave no known answer to {op} of lock `{key}`"),
    )
}
