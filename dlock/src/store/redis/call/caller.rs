//! The ordinary call: one request, one answer.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use super::crowds::Crowds;
use super::entry::Entry;
use super::exchange::{Exchange, answered, wants_another};
use super::route::Route;
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::{Op, validity};
use crate::store::Answer;
use crate::store::redis::env::Env;
use crate::store::redis::node::{DialFailure, Node, Session, Trouble};
use crate::store::redis::topology::Servers;
use crate::store::redis::wire::{
    Cmd, Form, Keys, Preface, PublishMode, Value, command, decode, is_granted, notes, tells_of_line,
};

/// How long the connection to a server may take before the others are asked whether it still has its slots.
const PATIENCE: Duration = Duration::from_millis(250);

/// Sends operations to the servers.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(super) env: Arc<Env>,
    pub(super) servers: Arc<Servers>,
    pub(super) crowds: Crowds,
}

impl Caller {
    pub(crate) fn new(env: &Arc<Env>, servers: &Arc<Servers>) -> Self {
        Self {
            env: Arc::clone(env),
            servers: Arc::clone(servers),
            crowds: Crowds::new(),
        }
    }

    /// Carries out an operation, whatever it takes until `deadline`.
    pub(crate) async fn call(
        self: &Arc<Self>,
        key: &LockKey,
        op: &Op,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        // Writing the request takes next to no time: the timeout may count from before.
        let sent = Instant::now();
        let crowded = self.crowds.has(key.slot(), sent);
        let form = self.form(key, op, sent);
        let node = self.servers.now().node(key.slot()).cloned();
        // The ordinary case ends here; all others share one boxed future.
        let ready = node
            .as_ref()
            .and_then(|node| Some((node, node.session()?, Entry::try_at(node, op, sent)?)));
        let first = match ready {
            Some((node, mut session, entry)) => {
                let sent_at = BootInstant::now();
                let cmd = self.compose((form, Keys::All), key, op, (node, false), sent_at);
                let patience = self.env.options.patience(sent, deadline);
                // Redis writes to its connections in the reverse of the order in which they have got
                // something to be told: behind a `PING`, the next holder hears before this client does.
                let alone = form.is_brief() || !crowded && key.kind().is_mutex();
                let result = if op.passes_on() && !alone {
                    let request = session
                        .connection
                        .request_behind(Preface::Ping, cmd, patience);
                    Box::pin(request).await
                } else {
                    let late = || self.late(&entry, sent);
                    let connection = &mut session.connection;
                    connection.request_at(sent, &cmd, patience, late).await
                };
                entry.ended(sent, &result);
                if let Ok(value) = &result
                    && !form.falls_short(value)
                    && let Some(reply) = decode(op, value)
                    && !wants_another(&reply)
                {
                    answered(node, &reply, sent_at);
                    self.heed(key, op, value, form);
                    return Ok(Answer {
                        reply,
                        from: node.id().origin(),
                        sent_at,
                        resent: false,
                    });
                }
                Some(Exchange {
                    node: Arc::clone(node),
                    asking: false,
                    session,
                    sent,
                    sent_at,
                    result,
                })
            }
            None => None,
        };
        let route = Route::new(self, key, op, form, deadline);
        Box::pin(route.follow(first)).await
    }

    /// The answer takes longer than it may: another node may serve the slot.
    pub(super) fn late(&self, entry: &Entry<'_>, sent: Instant) {
        entry.late(sent);
        self.env.refresh.request();
    }

    /// The connection to a node, once there is one, unless another node is wanted by then.
    pub(super) async fn connected_to(
        &self,
        node: &Arc<Node>,
        deadline: Instant,
        elsewhere: impl Future<Output = ()>,
    ) -> Result<Session, DialFailure> {
        if let Some(session) = node.session() {
            return Ok(session);
        }
        // A single request is enough: surveys go on for as long as callers wait.
        let look_around = async {
            sleep(PATIENCE).await;
            self.env.refresh.request();
            pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            connected = node.connected_at_last(deadline) => connected,
            () = elsewhere => Err(Trouble::Connecting(node.address().clone()).into()),
            never = look_around => match never {},
        }
    }

    /// Does what an answer asks for besides. While there is a line at a mutex, its clients ask by the script, which knows of the
    /// line: they do not take what is left free for those who poll, nor past those who wait.
    pub(super) fn heed(self: &Arc<Self>, key: &LockKey, op: &Op, answer: &Value, form: Form) {
        if key.kind().is_mutex() {
            self.note_line(key, op, answer, form);
        }
        if op.passes_on() {
            self.pass_notes(key.slot(), notes(answer));
        }
    }

    fn note_line(&self, key: &LockKey, op: &Op, answer: &Value, form: Form) {
        let now = Instant::now();
        if tells_of_line(answer) {
            self.crowds.mark(key.slot(), now);
        } else if form != Form::Plain && is_granted(op, answer) && !self.crowds.has(key.slot(), now)
        {
            self.crowds.mark_calm(key.slot(), now);
        }
    }

    /// The form of the first request.
    pub(super) fn form(&self, key: &LockKey, op: &Op, now: Instant) -> Form {
        let takes_mutex = key.kind().is_mutex() && matches!(op, Op::Acquire { .. });
        let alone = if takes_mutex {
            self.crowds.are_away(key.slot(), now)
        } else {
            !self.crowds.has(key.slot(), now)
        };
        if alone {
            Form::uncontended(key, op)
        } else {
            Form::contended(key, op)
        }
    }

    /// The request as it leaves for a node now, perhaps behind `ASKING`.
    pub(super) fn compose(
        &self,
        (form, keys): (Form, Keys),
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
        let form = match form {
            Form::Hash(script) if node.taught.is_new(script, now) => form.as_text(),
            form => form,
        };
        command(form, key, keys, op, publishing, valid_until)
    }

    /// How scripts are told to publish.
    pub(crate) fn publishing(&self) -> &'static str {
        self.env.publish.letter(self.servers.is_cluster())
    }

    /// How scripts are told to publish at a node that a slot is moving to.
    fn publishing_behind_asking(&self) -> &'static str {
        match self.env.publish.get() {
            mode @ PublishMode::Sharded => mode.letter_to_return(self.servers.is_cluster()),
            _ => self.publishing(),
        }
    }
}
