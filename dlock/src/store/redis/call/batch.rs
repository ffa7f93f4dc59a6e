//! Many operations on locks of one node in one pipeline.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::caller::{Caller, unknown_answer};
use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::Op;
use crate::store::redis::node::{DialFailure, Node, NodeId, Trouble, fatal};
use crate::store::redis::wire::{Form, Keys, Pipeline, Refusal, Value, decode, unless_refused};
use crate::store::{Answer, Patience};

/// How many operations of a batch find their way alone at the same time.
const ALONE: usize = 64;

impl Caller {
    /// Tells of each by its place in the batch, as soon as it has an answer: one that is sent to a node which hangs holds
    /// up none of the others. A node that is only slow has until the latest moment.
    pub(crate) async fn call_batch(
        self: &Arc<Self>,
        node: NodeId,
        batch: &[(LockKey, Op)],
        patience: Patience,
        mut tell: impl FnMut(usize, Result<Answer, Error>),
    ) {
        let found = self.servers.now().by_id(node).cloned();
        let outcomes = match found {
            Some(node) => self.pipeline(&node, batch, patience).await,
            // The node has left since the batch was put together.
            None => batch.iter().map(|_| None).collect(),
        };
        let mut elsewhere = Vec::new();
        for (index, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Some(outcome) => tell(index, outcome),
                None => elsewhere.push(index),
            }
        }
        // The answer that sends them elsewhere may have been late itself.
        let again = Instant::now() + self.env.options.response_timeout;
        let deadline = patience.until.max(patience.latest.min(again));
        let mut found = stream::iter(elsewhere)
            .map(|index| async move {
                let (key, op) = &batch[index];
                (index, self.call(key, op, deadline).await)
            })
            .buffer_unordered(ALONE);
        while let Some((index, outcome)) = found.next().await {
            tell(index, outcome);
        }
    }

    /// Sends all of them once; `None` for those that the node sends elsewhere.
    async fn pipeline(
        self: &Arc<Self>,
        node: &Arc<Node>,
        batch: &[(LockKey, Op)],
        patience: Patience,
    ) -> Vec<Option<Result<Answer, Error>>> {
        let all = |error: Error| batch.iter().map(|_| Some(Err(error.clone()))).collect();
        let left = self.servers.until(|all| all.by_id(node.id()).is_none());
        let mut session = match self.connected_to(node, patience.until, left).await {
            Ok(session) => session,
            Err(DialFailure::Fatal(error)) => return all(error),
            Err(DialFailure::Trouble(trouble)) => {
                self.env.refresh.request();
                return all(trouble.into_error());
            }
        };
        let (sent, sent_at) = (Instant::now(), BootInstant::now());
        let mut pipeline = Pipeline::with_capacity(batch.len());
        let mut forms = Vec::with_capacity(batch.len());
        for (key, op) in batch {
            let form = self.form(key, op, sent);
            forms.push(form);
            pipeline.add_command(self.compose((form, Keys::All), key, op, (node, false), sent_at));
        }
        // Counted from here, so that a connection that came late leaves time for answers.
        let patience = Patience {
            until: patience
                .latest
                .min(sent + self.env.options.response_timeout),
            ..patience
        };
        // What ends something is not to wait for a node that may be dead, once its slot is elsewhere. Renewals are sent to the new
        // node anyway.
        let late = || {
            let now = self.servers.now();
            let mut ends = batch
                .iter()
                .filter(|(_, op)| !matches!(op, Op::Renew { .. }));
            ends.any(|(key, _)| now.node_id(key.slot()) != node.id())
        };
        let (connection, count) = (&mut session.connection, pipeline.len());
        let answers = connection.request_replies(&pipeline, count, patience, late);
        match answers.await {
            Ok(values) => {
                node.answered();
                let items = batch.iter().zip(forms.into_iter().zip(values));
                items
                    .map(|(item, (form, value))| self.read(node, item, form, value, sent_at))
                    .collect()
            }
            Err(why) => {
                self.env.stats.unanswered.count();
                self.env.refresh.request();
                all(node.unanswered(&session, sent, why).into_error())
            }
        }
    }

    fn read(
        self: &Arc<Self>,
        node: &Arc<Node>,
        (key, op): &(LockKey, Op),
        form: Form,
        value: Value,
        sent_at: BootInstant,
    ) -> Option<Result<Answer, Error>> {
        let error = match unless_refused(value) {
            Ok(value) if form.falls_short(&value) => {
                self.crowds.mark(key, Instant::now());
                return None;
            }
            Ok(value) => {
                self.heed(key, op, &value, form);
                let answer = decode(op, &value).map(|reply| Answer {
                    reply,
                    from: node.id().origin(),
                    sent_at,
                    resent: false,
                });
                return Some(answer.ok_or_else(|| unknown_answer(node, key, op)));
            }
            Err(error) => error,
        };
        let (at, stats) = (node.address(), &self.env.stats);
        match Refusal::of(&error, at) {
            Refusal::Moved(_) => {
                stats.moved.count();
                None
            }
            Refusal::Ask(_) => {
                stats.asked.count();
                None
            }
            // Each has to see what it can do without.
            Refusal::Parted => None,
            Refusal::NoScript => {
                stats.no_script.count();
                // All go alone then: the first of them as its text, the others behind it by name.
                if let Some(script) = form.script() {
                    node.taught.forget(script, sent_at);
                }
                None
            }
            Refusal::Fatal(kind) => {
                Some(Err(fatal(kind, &error, node, key.as_str(), form.script())))
            }
            refusal @ (Refusal::ReadOnly | Refusal::Later) => {
                match refusal {
                    Refusal::ReadOnly => stats.read_only.count(),
                    _ => stats.deferred.count(),
                }
                self.env.refresh.request();
                Some(Err(Trouble::Refused(at.clone(), error).into_error()))
            }
        }
    }
}
