//! Getting one operation to the node that can carry it out.

use std::ops::ControlFlow;
use std::sync::Arc;

use redis::{Cmd, ServerError, Value};
use tokio::time::{Instant, sleep_until};

use super::Core;
use super::address::Address;
use super::backoff::Backoff;
use super::connection::NoAnswer;
use super::dial::DialFailure;
use super::failure::{Refusal, Trouble, fatal};
use super::node::{Lease, Node};
use super::wire::{Form, command, decode, notes};
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind, Step};
use crate::key::LockKey;
use crate::protocol::{Op, Reply, validity};
use crate::store::Answer;

/// Redirects followed without a pause; more of them in a row mean that nodes disagree.
const HOPS: u32 = 4;

impl Core {
    /// Carries out an operation, whatever it takes until `deadline`.
    pub(super) async fn call(
        self: &Arc<Self>,
        key: &LockKey,
        op: &Op,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        // Writing the request takes next to no time: the timeout may count from before.
        let sent = Instant::now();
        let form = self.form(key, op, sent);
        let node = self.topology.load().node(key.slot()).cloned();
        // The ordinary case ends here; all others share one boxed future.
        let first = match node.as_ref().and_then(|node| Some((node, node.lease()?))) {
            Some((node, mut lease)) => {
                let sent_at = BootInstant::now();
                let cmd = self.compose(form, key, op, (node, false), sent_at);
                let until = deadline.min(sent + self.env.options.response_timeout);
                // Redis writes to its connections in the reverse of the order in which they have got
                // something to be told: behind a `PING`, the next holder hears before this client does.
                let result = if form != Form::Plain && op.passes_on() {
                    let request = lease.connection.request_behind("PING", cmd, until);
                    Box::pin(request).await
                } else {
                    lease.connection.request(&cmd, until).await
                };
                if let Ok(value) = &result
                    && !form.falls_short(value)
                    && let Some(reply) = decode(op, value)
                    && !wants_another(&reply)
                {
                    answered(node, &reply, sent_at);
                    return Ok(Answer {
                        reply,
                        from: node.id().origin(),
                        sent_at,
                        resent: false,
                    });
                }
                Some(Attempt {
                    node: Arc::clone(node),
                    asking: false,
                    lease,
                    sent,
                    sent_at,
                    result,
                })
            }
            None => None,
        };
        let route = Route {
            core: self,
            key,
            op,
            deadline,
            form,
            next: None,
            resent: false,
            hops: 0,
            backoff: Backoff::of_request(),
            last: None,
        };
        Box::pin(route.follow(first)).await
    }

    /// The form of the first request.
    pub(super) fn form(&self, key: &LockKey, op: &Op, now: Instant) -> Form {
        if self.crowds.has(key.slot(), now) {
            Form::Hash
        } else {
            Form::uncontended(op)
        }
    }

    /// The request as it leaves for a node now, perhaps behind `ASKING`.
    pub(super) fn compose(
        &self,
        form: Form,
        key: &LockKey,
        op: &Op,
        (node, asking): (&Node, bool),
        now: BootInstant,
    ) -> Cmd {
        let valid_until = match op {
            Op::Acquire { .. } => {
                let validity = validity(self.env.options.response_timeout);
                node.time.valid_until(now, validity)
            }
            _ => node.time.latest_valid(),
        };
        let publishing = if asking {
            self.publishing_behind_asking()
        } else {
            self.publishing()
        };
        command(form, key, op, publishing, valid_until)
    }
}

/// Whether the request has to be sent again at once.
fn wants_another(reply: &Reply) -> bool {
    matches!(reply, Reply::Again | Reply::TooLate(_))
}

fn answered(node: &Node, reply: &Reply, sent_at: BootInstant) {
    node.answered();
    if let Reply::Granted(token) = reply {
        node.time.bound(token.as_u64(), sent_at);
    }
}

/// The way of one operation that was not answered at once.
struct Route<'a> {
    core: &'a Arc<Core>,
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

/// A request that was sent.
struct Attempt {
    node: Arc<Node>,
    asking: bool,
    lease: Lease,
    sent: Instant,
    sent_at: BootInstant,
    result: Result<Value, NoAnswer>,
}

/// What to do after a vain attempt.
enum Then {
    Again,
    Pause,
}

impl Route<'_> {
    async fn follow(mut self, first: Option<Attempt>) -> Result<Answer, Error> {
        let mut made = first;
        loop {
            let then = match made.take() {
                Some(attempt) => match self.judge(attempt) {
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
            match self.attempt().await {
                Ok(attempt) => made = Some(attempt),
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
    async fn attempt(&mut self) -> Result<Attempt, Option<Error>> {
        let next = self.next.take().or_else(|| {
            let topology = self.core.topology.load();
            Some((Arc::clone(topology.node(self.key.slot())?), false))
        });
        let Some((node, asking)) = next else {
            self.note(Trouble::Nobody);
            self.core.env.refresh.request();
            return Err(None);
        };
        let mut lease = match node.connected(self.deadline).await {
            Ok(lease) => lease,
            Err(DialFailure::Fatal(error)) => return Err(Some(error)),
            Err(DialFailure::Trouble(trouble)) => {
                self.note(trouble);
                self.core.env.refresh.request();
                return Err(None);
            }
        };
        let (sent, sent_at) = (Instant::now(), BootInstant::now());
        let to = (&*node, asking);
        let cmd = (self.core).compose(self.form, self.key, self.op, to, sent_at);
        let until = self
            .deadline
            .min(sent + self.core.env.options.response_timeout);
        let result = if asking {
            // Whatever came between the two would use the `ASKING` up.
            lease.connection.request_behind("ASKING", cmd, until).await
        } else {
            lease.connection.request(&cmd, until).await
        };
        Ok(Attempt {
            node,
            asking,
            lease,
            sent,
            sent_at,
            result,
        })
    }

    fn judge(&mut self, attempt: Attempt) -> ControlFlow<Result<Answer, Error>, Then> {
        let node = attempt.node;
        let value = match attempt.result {
            Ok(value) => value,
            Err(no_answer) => {
                self.resent = true;
                self.unanswered(&node, &attempt.lease, attempt.sent, no_answer);
                return ControlFlow::Continue(Then::Pause);
            }
        };
        node.answered();
        if let Value::ServerError(error) = value {
            return self.refused(&node, attempt.asking, error);
        }
        if self.form.falls_short(&value) {
            self.core.crowds.mark(self.key.slot(), Instant::now());
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
                answered(&node, &reply, attempt.sent_at);
                if attempt.asking {
                    self.core.pass_notes(self.key.slot(), notes(&value));
                }
                ControlFlow::Break(Ok(Answer {
                    reply,
                    from: node.id().origin(),
                    sent_at: attempt.sent_at,
                    resent: self.resent,
                }))
            }
        }
    }

    fn unanswered(&mut self, node: &Arc<Node>, lease: &Lease, sent: Instant, why: NoAnswer) {
        let env = &self.core.env;
        env.stats.unanswered.count();
        env.refresh.request();
        self.note(node.unanswered(lease, sent, why));
    }

    fn refused(
        &mut self,
        node: &Arc<Node>,
        asking: bool,
        error: ServerError,
    ) -> ControlFlow<Result<Answer, Error>, Then> {
        let env = &self.core.env;
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
        self.next = Some((self.core.node_at(to), asking));
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

/// The error for an answer that no operation has.
pub(super) fn unknown_answer(node: &Node, key: &LockKey, op: &Op) -> Error {
    let (op, at) = (op.name(), node.address());
    Error::new(
        ErrorKind::Server,
        format!("Redis at {at} gave no known answer to {op} of lock `{key}`"),
    )
}
