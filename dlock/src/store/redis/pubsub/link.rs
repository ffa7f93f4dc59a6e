//! One pub/sub connection, while it lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::{Cmd, PushInfo, PushKind, RedisError, Value, cmd};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::PubSub;
use super::channel::Name;
use super::line::Job;
use crate::protocol::Message;
use crate::store::redis::connect::connect;
use crate::store::redis::connection::Connection;
use crate::store::redis::node::{Node, NodeId};
use crate::store::redis::probe::is_denied;
use crate::store::redis::wire::PublishMode;
use crate::store::redis::wire::text;

/// A pub/sub connection. One command at a time is under way, because servers send confirmations unasked
/// as well, and a library that matches replies by their order cannot tell.
pub(super) struct Link {
    pubsub: Arc<PubSub>,
    node: NodeId,
    number: u64,
    connection: Connection,
    ended: Arc<Notify>,
}

impl Link {
    pub(super) async fn open(pubsub: &Arc<PubSub>, node: &Node) -> Result<Self, RedisError> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let ended = Arc::new(Notify::new());
        let pushes = hear(pubsub, node.id(), number, &ended);
        let connection = connect(&pubsub.env.options, node.address(), pushes).await?;
        Ok(Self {
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
        matches!(self.ask(&cmd("PING")).await, Some(Value::SimpleString(pong)) if pong == "PONG")
    }

    /// Does a job; whether the connection is fit for more.
    pub(super) async fn carry_out(&mut self, job: Job) -> bool {
        match job {
            Job::Subscribe(name) => {
                if !self.pubsub.channels.still_wanted(&name) {
                    return true;
                }
                let fit = self.subscribe(&name).await;
                // Unless it is live now.
                self.pubsub.channels.fail(&name);
                fit
            }
            Job::Unsubscribe(name, link) => link != self.number || self.unsubscribe(&name).await,
        }
    }

    async fn subscribe(&mut self, name: &Name) -> bool {
        let mode = self.pubsub.env.publish.get();
        let (command, kind) = match mode {
            PublishMode::Sharded => ("SSUBSCRIBE", PushKind::SSubscribe),
            PublishMode::Classic => ("SUBSCRIBE", PushKind::Subscribe),
            PublishMode::Off => return true,
        };
        match self.ask(cmd(command).arg(&**name)).await {
            Some(value) if confirms(&value, &kind, name) => {
                let missed = self.pubsub.channels.confirm(name, self.node, self.number);
                if !missed.is_empty() {
                    self.pubsub.env.stats.resubscribed.count();
                    self.pubsub.wake(missed);
                }
                true
            }
            Some(Value::ServerError(error)) => {
                if is_denied(&error) {
                    self.pubsub.env.publish.step_down_from(mode);
                } else {
                    self.pubsub.env.refresh.request();
                }
                true
            }
            // Somebody else's reply, or none.
            _ => false,
        }
    }

    async fn unsubscribe(&mut self, name: &Name) -> bool {
        // A mode that has stepped down meanwhile has left nothing behind that works.
        let (command, kind) = match self.pubsub.env.publish.get() {
            PublishMode::Sharded => ("SUNSUBSCRIBE", PushKind::SUnsubscribe),
            _ => ("UNSUBSCRIBE", PushKind::Unsubscribe),
        };
        let answer = self.ask(cmd(command).arg(&**name)).await;
        answer.is_some_and(|value| confirms(&value, &kind, name))
    }

    async fn ask(&mut self, cmd: &Cmd) -> Option<Value> {
        let until = Instant::now() + self.pubsub.env.options.response_timeout;
        let answer = self.connection.request(cmd, until).await;
        answer.ok()
    }
}

impl Drop for Link {
    /// Whoever listens on it has to look by themselves until another link has its channel.
    fn drop(&mut self) {
        let lost = self.pubsub.channels.lose_link(self.number);
        if !lost.is_empty() {
            self.pubsub.wake(lost);
        }
        self.pubsub.nudge.notify_one();
    }
}

fn confirms(value: &Value, kind: &PushKind, name: &Name) -> bool {
    match value {
        Value::Push { kind: is, data } => {
            is == kind && data.first().and_then(text) == Some(&**name)
        }
        _ => false,
    }
}

/// Hears of messages, subscriptions that the server ended, and the connection's end.
fn hear(
    pubsub: &Arc<PubSub>,
    node: NodeId,
    link: u64,
    ended: &Arc<Notify>,
) -> impl Fn(PushInfo) -> Result<(), ()> + use<> {
    let (pubsub, ended) = (Arc::downgrade(pubsub), Arc::clone(ended));
    move |push| {
        let Some(pubsub) = pubsub.upgrade() else {
            return Ok(());
        };
        match push.kind {
            PushKind::SMessage | PushKind::Message => {
                let mut parts = push.data.iter().map(text);
                if let (Some(Some(channel)), Some(Some(told))) = (parts.next(), parts.next())
                    && let Some(message) = Message::parse(told)
                {
                    pubsub.wakeups.tell(channel, &message, node.origin());
                }
            }
            PushKind::SUnsubscribe => {
                if let Some(name) = push.data.first().and_then(text) {
                    let lost = pubsub.channels.lose_channel(name, link);
                    if !lost.is_empty() {
                        pubsub.env.refresh.request();
                        pubsub.wake(lost);
                        pubsub.nudge.notify_one();
                    }
                }
            }
            PushKind::Disconnection => ended.notify_one(),
            _ => {}
        }
        Ok(())
    }
}
