//! One pub/sub connection, while it lasts.

use std::sync::Arc;

use tokio::sync::Notify;

use super::channel::Name;
use super::hearing::PubSub;
use super::jobs::Job;
use crate::clock::Instant;
use crate::store::redis::node::{Connection, Node, NodeId, connect};
use crate::store::redis::wire::{
    Cmd, PublishMode, Push, Subscription, Value, is_denied, is_pong, ping, unless_refused,
};
use crate::trace::unheard;

/// A pub/sub connection. One command at a time is under way, because servers send confirmations unasked
/// as well, and a library that matches replies by their order cannot tell.
pub(super) struct Subscriber {
    pubsub: Arc<PubSub>,
    node: NodeId,
    number: u64,
    connection: Connection,
    ended: Arc<Notify>,
}

impl Subscriber {
    /// Connects, if that works now.
    pub(super) async fn open(pubsub: &Arc<PubSub>, node: &Node) -> Option<Self> {
        let number = pubsub.env.next_number();
        let ended = Arc::new(Notify::new());
        let on_push = hear(pubsub, node.id(), number, &ended);
        let connecting = connect(&pubsub.env, node.address(), on_push);
        let connection = connecting.await.ok()?;
        Some(Self {
            pubsub: Arc::clone(pubsub),
            node: node.id(),
            number,
            connection,
            ended,
        })
    }

    /// Completes when the connection has ended.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    pub(super) fn is_used(&self) -> bool {
        self.pubsub.channels.uses(self.number)
    }

    /// Whether the connection is fit for more.
    pub(super) async fn ping(&mut self) -> bool {
        self.ask(&ping())
            .await
            .is_some_and(|answer| is_pong(&answer))
    }

    /// Does a job; whether the connection is fit for more.
    pub(super) async fn carry_out(&mut self, job: Job) -> bool {
        match job {
            Job::Subscribe(name) => {
                if !self.pubsub.channels.ask(&name, self.number) {
                    return true;
                }
                let fit = self.subscribe(&name).await;
                self.pubsub.channels.asked(&name, self.number);
                fit
            }
            Job::Unsubscribe(name, number) => {
                // Somebody may have wanted it again before this was queued.
                let obsolete = number != self.number || self.pubsub.channels.is_on(&name, number);
                obsolete || self.unsubscribe(&name).await
            }
        }
    }

    async fn subscribe(&mut self, name: &Name) -> bool {
        let mode = self.pubsub.env.publish.get();
        let Some(subscription) = Subscription::begin(mode, name) else {
            return true;
        };
        let Some(answer) = self.ask(subscription.command()).await else {
            return false;
        };
        match unless_refused(answer) {
            Ok(answer) if subscription.is_confirmed(&answer, name) => {
                let missed = self.pubsub.channels.confirm(name, self.node, self.number);
                if !self.pubsub.channels.is_live(name) {
                    self.pubsub.env.refresh.request();
                    self.pubsub.nudge.notify_one();
                }
                if !missed.is_empty() {
                    self.pubsub.env.stats.resubscribed.count();
                    self.pubsub.missed(missed);
                }
                true
            }
            // Somebody else's reply.
            Ok(_) => false,
            Err(error) => {
                if is_denied(&error) {
                    let env = &self.pubsub.env;
                    if env.publish.step_down_from(mode) && mode == PublishMode::Sharded {
                        unheard(env.options.user());
                    }
                } else {
                    self.pubsub.env.refresh.request();
                }
                true
            }
        }
    }

    async fn unsubscribe(&mut self, name: &Name) -> bool {
        let subscription = Subscription::end(self.pubsub.env.publish.get(), name);
        let Some(answer) = self.ask(subscription.command()).await else {
            return false;
        };
        match unless_refused(answer) {
            Ok(answer) => subscription.is_confirmed(&answer, name),
            // The slot has left, which ended it. While it is only leaving the subscription goes on.
            Err(error) => error.code() == "MOVED",
        }
    }

    async fn ask(&mut self, cmd: &Cmd) -> Option<Value> {
        let until = Instant::now() + self.pubsub.env.options.response_timeout;
        let answer = self.connection.request(cmd, until).await;
        answer.ok()
    }
}

impl Drop for Subscriber {
    /// Whoever listens on it has to look by themselves until another connection has its channel.
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
