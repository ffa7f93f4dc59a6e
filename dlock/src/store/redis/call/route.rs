//! The way of an operation that was not answered at once: redirects, pauses, other nodes.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::caller::Caller;
use super::exchange::{Exchange, answered, unknown_answer};
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind, Step};
use crate::key::LockKey;
use crate::protocol::{Op, Reply};
use crate::store::Answer;
use crate::store::redis::address::Address;
use crate::store::redis::backoff::Backoff;
use crate::store::redis::node::{DialFailure, NoAnswer, Node, Session, Trouble, fatal};
use crate::store::redis::wire::{Form, Refusal, ServerError, decode, notes, unless_refused};

/// Redirects followed without a pause; more of them in a row mean that nodes disagree.
const HOPS: u32 = 4;

/// The way of one operation that was not answered at once.
pub(super) struct Route<'a> {
    caller: &'a Arc<Caller>,
    key: &'a LockKey,
    op: &'a Op,
    deadline: Instant,
    form: Form,
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
            let now = Instant::now();
            if matches!(then, Then::Pause) {
                sleep_until(self.deadline.min(now + self.backoff.pause())).await;
            }
            if Instant::now() >= self.deadline {
                return Err(self.give_up());
            }
            match self.send().await {
                Ok(exchange) => last = Some(exchange),
                Err(Some(error)) => return Err(error),
                // No connection: others may be better informed after a pause.
                Err(None) => {
                    let pause = self.backoff.pause();
                    sleep_until(self.deadline.min(Instant::now() + pause)).await;
                }
            }
        }
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
        let mut session = match node.connected(self.deadline).await {
            Ok(session) => session,
            Err(DialFailure::Fatal(error)) => return Err(Some(error)),
            Err(DialFailure::Trouble(trouble)) => {
                self.note(trouble);
                self.caller.env.refresh.request();
                return Err(None);
            }
        };
        let (sent, sent_at) = (Instant::now(), BootInstant::now());
        let to = (&*node, asking);
        let cmd = (self.caller).compose(self.form, self.key, self.op, to, sent_at);
        let until = self
            .deadline
            .min(sent + self.caller.env.options.response_timeout);
        let result = if asking {
            // Whatever came between the two would use the `ASKING` up.
            session
                .connection
                .request_behind("ASKING", cmd, until)
                .await
        } else {
            session.connection.request(&cmd, until).await
        };
        Ok(Exchange {
            node,
            asking,
            session,
            sent,
            sent_at,
            result,
        })
    }

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
            Err(error) => return self.refused(&node, exchange.asking, error),
        };
        if self.form.falls_short(&value) {
            self.caller.crowds.mark(self.key.slot(), Instant::now());
            self.form = Form::Hash;
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
                self.hops += 1;
                ControlFlow::Continue(if self.hops <= HOPS {
                    Then::Again
                } else {
                    Then::Pause
                })
            }
            reply => {
                answered(&node, &reply, exchange.sent_at);
                if exchange.asking {
                    self.caller.pass_notes(self.key.slot(), notes(&value));
                }
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
        error: ServerError,
    ) -> ControlFlow<Result<Answer, Error>, Then> {
        let env = &self.caller.env;
        let then = match Refusal::of(&error, node.address()) {
            Refusal::Moved(to) => {
                env.stats.moved.count();
                env.refresh.request_after_redirect(node.address());
                self.redirect(to, false)
            }
            Refusal::Ask(to) => {
                env.stats.asked.count();
                self.redirect(to, true)
            }
            Refusal::NoScript => {
                env.stats.no_script.count();
                // By way of the slot's owner: what it said of the slot may have changed since.
                self.form = Form::Text;
                if !asking {
                    self.next = Some((Arc::clone(node), false));
                }
                Then::Again
            }
            Refusal::ReadOnly => {
                env.stats.read_only.count();
                env.refresh.request();
                Then::Pause
            }
            Refusal::Later => {
                env.stats.deferred.count();
                env.refresh.request();
                Then::Pause
            }
            Refusal::Fatal(kind) => {
                let (at, key) = (node.address(), self.key.as_str());
                return ControlFlow::Break(Err(fatal(kind, &error, at, key, &env.options)));
            }
        };
        self.note(Trouble::Refused(node.address().clone(), error));
        ControlFlow::Continue(then)
    }

    fn redirect(&mut self, to: Option<Address>, asking: bool) -> Then {
        let Some(to) = to else {
            return Then::Pause;
        };
        self.next = Some((self.caller.servers.node_at(to), asking));
        self.hops += 1;
        if self.hops <= HOPS {
            Then::Again
        } else {
            Then::Pause
        }
    }

    /// Keeps the trouble that tells most: silence tells nothing.
    fn note(&mut self, trouble: Trouble) {
        if self.last.is_none() || !matches!(trouble, Trouble::Silence(_)) {
            self.last = Some(trouble);
        }
    }

    fn give_up(self) -> Error {
        match self.last {
            Some(trouble) => trouble.into_error(),
            None => Error::new(
                ErrorKind::Timeout(Step::Request),
                format!(
                    "the deadline of {} passed before it was sent",
                    self.op.name()
                ),
            ),
        }
    }
}
