//! The ordinary call: one request, one answer.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use super::crowds::Crowds;
use super::route::Route;
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::protocol::{Op, Reply, validity};
use crate::slot::Slot;
use crate::store::Answer;
use crate::store::redis::env::Env;
use crate::store::redis::node::{
    DialFailure, NoAnswer, Node, NodeId, Permit, Session, Trouble, Unsent,
};
use crate::store::redis::topology::Servers;
use crate::store::redis::wire::{
    Cmd, Form, Keys, Preface, PublishMode, Value, command, decode, found_alone, is_granted,
    is_of_all, notes, publish_all, refusal, tells_of_line,
};
use crate::tasks::Place;
use crate::token::ServerToken;

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
        let begun = Instant::now();
        let node = self.servers.now().node(key.slot()).cloned();
        let mut ready = node.as_ref().and_then(|node| {
            let (session, entry) = (node.session()?, Entry::try_at(node, op, begun)?);
            Some((node, session, entry, begun))
        });
        let mut is_late = false;
        if ready.is_none()
            && let Some(node) = node.as_ref().filter(|node| node.is_connected())
        {
            // Very many wait here at times, so the box is small.
            match Box::pin(self.turn(node, key, op, deadline)).await {
                Ok((session, entry)) => ready = Some((node, session, entry, Instant::now())),
                Err(why) => is_late = why == Some(Unsent::Late),
            }
        }
        let now = ready.as_ref().map_or(begun, |(.., sent)| *sent);
        let crowded = self.crowds.has(key, now);
        let form = self.form(key, op, now);
        // The ordinary case ends here; all others share one boxed future.
        let first = match ready {
            Some((node, mut session, entry, sent)) => {
                let sent_at = BootInstant::now();
                let cmd = self.compose((form, Keys::All), key, op, (node, false), sent_at);
                let patience = self.env.options.patience(sent, deadline);
                // Redis writes to its connections in the reverse of the order in which they have got
                // something to be told: behind a `PING`, the next holder hears before this client does.
                let alone = form.is_brief() || !crowded && key.kind().features().remembers_waiters;
                let late = self.late(&entry, sent, key.slot(), (node.id(), node.id()));
                let result = if op.passes_on() && !alone {
                    let request =
                        (session.connection).request_behind(Preface::Ping, cmd, patience, late);
                    Box::pin(request).await
                } else {
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
        let mut route = Route::new(self, key, op, form, deadline);
        if let Some(node) = node.as_ref().filter(|_| is_late) {
            route.note_late(node);
        }
        Box::pin(route.follow(first)).await
    }

    /// What the first request needs, once there is room for it; why it may not be sent, or nothing if there is no connection.
    async fn turn<'n>(
        &self,
        node: &'n Arc<Node>,
        key: &LockKey,
        op: &Op,
        deadline: Instant,
    ) -> Result<(Session, Entry<'n>), Option<Unsent>> {
        let (slot, id) = (key.slot(), node.id());
        let moved = self.servers.until(|all| all.node_id(slot) != id);
        let entry = Entry::at(node, op, deadline, moved).await?;
        let session = match node.session() {
            Some(session) => session,
            // It keeps its turn.
            None => Box::pin(node.connected(deadline)).await.map_err(|_| None)?,
        };
        Ok((session, entry))
    }

    /// What to do while the answer takes longer than it may. Another node may serve the slot: whether one does by now that is
    /// neither the owner at the time nor the node that was asked.
    pub(super) fn late(
        &self,
        entry: &Entry<'_>,
        sent: Instant,
        slot: Slot,
        (mut owner, asked): (NodeId, NodeId),
    ) -> impl FnMut() -> bool {
        let mut is_told = false;
        move || {
            if !std::mem::replace(&mut is_told, true) {
                entry.late(sent);
                self.env.refresh.request();
            }
            let now = self.servers.node_of(slot);
            if now == asked {
                owner = asked;
            }
            now != owner
        }
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

    /// Acts on the hints that an answer carries. While a mutex has a queue, its clients use the script, which knows of
    /// the queue: so they neither take the free window of polling programs nor pass waiters.
    pub(super) fn heed(self: &Arc<Self>, key: &LockKey, op: &Op, answer: &Value, form: Form) {
        if key.kind().features().remembers_waiters {
            self.note_line(key, op, answer, form);
        } else if matches!(op, Op::Release { .. }) && form != Form::Plain {
            self.crowds.released(key, found_alone(answer));
        }
        if op.passes_on() {
            self.pass_notes(key.slot(), notes(answer));
        }
    }

    fn note_line(&self, key: &LockKey, op: &Op, answer: &Value, form: Form) {
        let now = Instant::now();
        if tells_of_line(answer) {
            self.crowds.mark(key, now);
        } else if form != Form::Plain && is_granted(op, answer) && !self.crowds.has(key, now) {
            self.crowds.mark_calm(key, now);
        }
    }

    /// The form of the first request.
    pub(super) fn form(&self, key: &LockKey, op: &Op, now: Instant) -> Form {
        let remembers = key.kind().features().remembers_waiters;
        let alone = if remembers && matches!(op, Op::Acquire { .. }) {
            self.crowds.are_away(key, now)
        } else {
            !self.crowds.has(key, now)
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
fn wants_another(reply: &Reply) -> bool {
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

/// The right to send a request to a node: acquires share a budget, all else goes first.
#[must_use = "dropping it lets another one send"]
pub(super) struct Entry<'n>(Option<Permit<'n>>);

impl<'n> Entry<'n> {
    /// Acquires are what there can be very many of without an end. What renews or ends something is never kept waiting.
    pub(super) fn is_counted(op: &Op) -> bool {
        matches!(op, Op::Acquire { .. })
    }

    /// Now, if there is room.
    pub(super) fn try_at(node: &'n Node, op: &Op, now: Instant) -> Option<Self> {
        if !Self::is_counted(op) {
            return Some(Self(None));
        }
        node.budget.try_enter(now).map(|permit| Self(Some(permit)))
    }

    /// Once it is its turn.
    pub(super) async fn at(
        node: &'n Node,
        op: &Op,
        deadline: Instant,
        elsewhere: impl Future<Output = ()>,
    ) -> Result<Self, Unsent> {
        if !Self::is_counted(op) {
            return Ok(Self(None));
        }
        let permit = node.budget.enter(deadline, elsewhere).await?;
        Ok(Self(Some(permit)))
    }

    /// The answer takes longer than it may.
    pub(super) fn late(&self, sent: Instant) {
        if let Some(permit) = &self.0 {
            permit.late(sent);
        }
    }

    /// The request that left then has come to its end.
    pub(super) fn ended(self, sent: Instant, result: &Result<Value, NoAnswer>) {
        let Some(permit) = self.0 else { return };
        let refusal = result.as_ref().ok().and_then(refusal);
        match (refusal.filter(|error| is_of_all(error)), result) {
            (Some(error), _) => permit.refused(error),
            (None, Ok(_) | Err(NoAnswer::Silence)) => permit.ended(sent, result.is_ok()),
            (None, Err(_)) => {}
        }
    }
}

impl Caller {
    /// Publishes at the node that owns a slot, where its subscribers are, what a script has left to the client: one at the node
    /// that the slot is moving to, or at a server that lets no script publish.
    pub(super) fn pass_notes(&self, slot: Slot, notes: Vec<(String, String)>) {
        if notes.is_empty() {
            return;
        }
        let Some(owner) = self.servers.now().node(slot).cloned() else {
            return;
        };
        let mode = self.env.publish.get();
        let until = Instant::now() + self.env.options.response_timeout;
        let passing = async move {
            if let Ok(mut session) = owner.connected(until).await {
                // A waiter that misses the message looks at its next heartbeat.
                let _ = session
                    .connection
                    .request_all(&publish_all(mode, &notes), until)
                    .await;
            }
        };
        self.env.tasks.spawn(&Place::own(), passing);
    }
}
