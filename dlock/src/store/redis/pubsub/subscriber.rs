//! One pub/sub connection, while it lasts.

use std::sync::Arc;

use tokio::sync::Notify;

use super::channels::Name;
use super::hearing::PubSub;
use super::worker::{Job, Jobs};
use crate::clock::Instant;
use crate::store::redis::node::{Connection, Node, NodeId, connect};
use crate::store::redis::wire::{
    Pipeline, PublishMode, Push, ServerError, Value, is_denied, is_end, is_for_later, is_pong,
    ping, refusal, subscribe_all, unless_refused, unsubscribe_all,
};
use crate::trace::unheard;

/// How often in a row a server may say something unasked where an answer is due.
const STRAYS: usize = 16;

/// A pub/sub connection. One pipeline at a time is under way, because servers send confirmations unasked
/// as well, and a library that matches replies by their order cannot tell.
pub(super) struct Subscriber {
    pubsub: Arc<PubSub>,
    number: u64,
    connection: Connection,
    ended: Arc<Notify>,
    /// Channels that the server could not unsubscribe: its cluster was down, or the slot was leaving.
    kept: Vec<Name>,
}

impl Subscriber {
    /// Connects, if that works now.
    pub(super) async fn open(
        pubsub: &Arc<PubSub>,
        node: &Arc<Node>,
        jobs: &Arc<Jobs>,
    ) -> Option<Self> {
        let number = pubsub.env.next_number();
        let ended = Arc::new(Notify::new());
        let on_push = hear(pubsub, node.id(), number, &ended);
        // A server that is slow says nothing on other connections either.
        let (others, jobs) = (Arc::downgrade(node), Arc::clone(jobs));
        let on_silence =
            move || !jobs.is_closed() && others.upgrade().is_some_and(|node| !node.speaks());
        let connecting = connect(&pubsub.env, node.address(), on_push, on_silence);
        let connection = connecting.await.ok()?;
        Some(Self {
            pubsub: Arc::clone(pubsub),
            number,
            connection,
            ended,
            kept: Vec::new(),
        })
    }

    /// Completes when the connection has ended.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    pub(super) fn is_used(&self) -> bool {
        self.pubsub.channels.uses(self.number)
    }

    /// Whether the connection is fit for more. Does first what could not be done before.
    pub(super) async fn ping(&mut self) -> bool {
        if !self.kept.is_empty() {
            return self.carry_out(Vec::new()).await;
        }
        self.ask(&ping_only(), 1).await.is_some()
    }

    /// Does jobs; whether the connection is fit for more.
    pub(super) async fn carry_out(&mut self, jobs: Vec<Job>) -> bool {
        let channels = &self.pubsub.channels;
        let mut wanted = Wanted(Vec::new(), Arc::clone(&self.pubsub));
        let mut unwanted = std::mem::take(&mut self.kept);
        unwanted.retain(|name| !channels.is_on(name, self.number));
        for job in jobs {
            match job {
                Job::Subscribe(name) => wanted.0.push(name),
                Job::Unsubscribe(name, number) => {
                    // A waiter may have wanted it again before this was queued.
                    if number == self.number && !channels.is_on(&name, number) {
                        unwanted.push(name);
                    }
                }
            }
        }
        if !(unwanted.is_empty() || self.unsubscribe(&unwanted).await) {
            return false;
        }
        // Only now: the end of a subscription that was not wanted is none of one that is asked for.
        let channels = &self.pubsub.channels;
        wanted.0.retain(|name| channels.ask(name, self.number));
        wanted.0.is_empty() || self.subscribe(&wanted.0).await
    }

    /// Asks for channels all at once. That they are live, pushes tell, also when they come late; the answers only tell of
    /// those that were refused.
    async fn subscribe(&mut self, names: &[Name]) -> bool {
        let mode = self.pubsub.env.publish.get();
        let Some(pipeline) = subscribe_all(mode, names.iter()) else {
            for name in names {
                self.give_up(name);
            }
            return true;
        };
        let Some(answers) = self.answers(&pipeline, names.len()).await else {
            return false;
        };
        for (name, answer) in names.iter().zip(answers) {
            if let Err(error) = unless_refused(answer) {
                self.refused(mode, name, &error);
            }
        }
        true
    }

    fn refused(&self, mode: PublishMode, name: &Name, error: &ServerError) {
        let env = &self.pubsub.env;
        if is_denied(error) {
            if env.publish.step_down_from(mode) && mode == PublishMode::Sharded {
                unheard(env.options.user());
            }
        } else {
            env.refresh.request();
        }
        self.give_up(name);
    }

    /// The server does not subscribe a channel that it was asked for.
    fn give_up(&self, name: &Name) {
        let relied = self.pubsub.channels.refused(name, self.number);
        self.pubsub.missed(relied);
    }

    async fn unsubscribe(&mut self, names: &[Name]) -> bool {
        let pipeline = unsubscribe_all(self.pubsub.env.publish.get(), names.iter());
        // What has left with its slot is refused, and is no subscription any more.
        let Some(answers) = self.ask(&pipeline, names.len()).await else {
            return false;
        };
        // What the server says unasked may stand in between, so an answer does not tell its channel: all are repeated.
        let mut refusals = answers.iter().filter_map(refusal);
        if refusals.any(is_for_later) {
            self.kept = names.to_vec();
        }
        true
    }

    /// The answers to commands that subscribe, without what the server has said unasked in between: that a subscription
    /// has ended, which the library takes for an answer. As many answers are still to come then.
    async fn answers(&mut self, pipeline: &Pipeline, count: usize) -> Option<Vec<Value>> {
        let mut answers = self.ask(pipeline, count).await?;
        let mut missing = strays(&mut answers);
        for _ in 0..STRAYS {
            if missing == 0 {
                return Some(answers);
            }
            let mut more = self.ask(&ping_only(), missing + 1).await?;
            missing = strays(&mut more);
            answers.extend(more.into_iter().filter(|answer| !is_pong(answer)));
        }
        // There is no end of it.
        None
    }

    async fn ask(&mut self, pipeline: &Pipeline, count: usize) -> Option<Vec<Value>> {
        // While the server is slow, a client that connected again would only give it more to do. Meanwhile the waiters poll.
        let patience = self.pubsub.env.options.long_patience(Instant::now());
        let replies = self
            .connection
            .request_replies(pipeline, count, patience, || false);
        replies.await.ok()
    }
}

fn ping_only() -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(1);
    pipeline.add_command(ping());
    pipeline
}

/// Channels that are to be asked for. Dropped before that, the keeper sees to them.
struct Wanted(Vec<Name>, Arc<PubSub>);

impl Drop for Wanted {
    fn drop(&mut self) {
        for name in &self.0 {
            self.1.failed(name);
        }
    }
}

/// Takes out what is no answer; how many.
fn strays(answers: &mut Vec<Value>) -> usize {
    let before = answers.len();
    answers.retain(|answer| !is_end(answer));
    before - answers.len()
}

impl Drop for Subscriber {
    /// Its listeners have to poll until another connection has the channel.
    fn drop(&mut self) {
        let lost = self.pubsub.channels.lose_connection(self.number);
        if !lost.is_empty() {
            self.pubsub.missed(lost);
        }
        self.pubsub.nudge.notify_one();
    }
}

/// Hears of messages, subscriptions that the server ended, and the connection's end.
fn hear(
    pubsub: &Arc<PubSub>,
    node: NodeId,
    number: u64,
    ended: &Arc<Notify>,
) -> impl Fn(Push<'_>) + use<> {
    let (pubsub, ended) = (Arc::downgrade(pubsub), Arc::clone(ended));
    move |push| {
        let Some(pubsub) = pubsub.upgrade() else {
            return;
        };
        match push {
            Push::Message(channel, message) => {
                pubsub.wakeups.tell(channel, &message, node.origin());
            }
            Push::Subscribed(name) => {
                let missed = pubsub.channels.confirm(name, node, number);
                if !missed.is_empty() {
                    pubsub.env.stats.resubscribed.count();
                    pubsub.missed(missed);
                }
            }
            Push::Unsubscribed(name) => {
                let lost = pubsub.channels.lose_channel(name, number);
                if !lost.is_empty() {
                    pubsub.env.refresh.request();
                    pubsub.missed(lost);
                    pubsub.nudge.notify_one();
                }
            }
            Push::Disconnected => ended.notify_one(),
            Push::Other => {}
        }
    }
}
