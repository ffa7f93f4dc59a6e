//! Channels: how waiters subscribe, how they are woken, and what servers send unasked.

use redis::{Cmd, Pipeline, PushInfo, PushKind, Value, cmd};

use super::decode::text;
use super::refusal::{is_denied, is_unknown, refusal};
use crate::protocol::Message;

/// Subscribes to channels, one a command; `None` without pub/sub. The server confirms each by a push, or refuses it.
pub(crate) fn subscribe_all(
    mode: PublishMode,
    channels: impl ExactSizeIterator<Item = impl AsRef<str>>,
) -> Option<Pipeline> {
    let command = match mode {
        PublishMode::Sharded => "SSUBSCRIBE",
        PublishMode::Classic => "SUBSCRIBE",
        PublishMode::Off => return None,
    };
    Some(one_each(command, channels))
}

/// Unsubscribes. A mode that has stepped down meanwhile has left nothing behind that works.
pub(crate) fn unsubscribe_all(
    mode: PublishMode,
    channels: impl ExactSizeIterator<Item = impl AsRef<str>>,
) -> Pipeline {
    let command = match mode {
        PublishMode::Sharded => "SUNSUBSCRIBE",
        _ => "UNSUBSCRIBE",
    };
    one_each(command, channels)
}

fn one_each(command: &str, channels: impl ExactSizeIterator<Item = impl AsRef<str>>) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(channels.len());
    for channel in channels {
        pipeline.cmd(command).arg(channel.as_ref());
    }
    pipeline
}

/// Whether the server says that a subscription has ended, asked to or not.
pub(crate) fn is_end(answer: &Value) -> bool {
    matches!(
        answer,
        Value::Push {
            kind: PushKind::SUnsubscribe | PushKind::Unsubscribe,
            ..
        }
    )
}

/// Asks whether the server is there.
pub(crate) fn ping() -> Cmd {
    cmd("PING")
}

/// Whether it is.
pub(crate) fn is_pong(answer: &Value) -> bool {
    matches!(answer, Value::SimpleString(pong) if pong == "PONG")
}

/// The kind of pub/sub that the servers offer and this user may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublishMode {
    /// Within the shard of the lock: Redis 7 and later.
    Sharded,
    /// Through the whole cluster.
    Classic,
    /// Not at all: waiters poll.
    Off,
}

impl PublishMode {
    /// The command that publishes.
    fn command(self) -> &'static str {
        match self {
            Self::Sharded => "SPUBLISH",
            Self::Classic => "PUBLISH",
            Self::Off => "",
        }
    }

    /// How scripts are told to publish. Classic messages reach the whole cluster, but their count of receivers is that
    /// of one node. On a single server a client has one channel for all locks.
    pub(crate) fn letter(self, is_cluster: bool) -> &'static str {
        match self {
            Self::Sharded if is_cluster => "S",
            Self::Sharded => "s",
            Self::Classic if is_cluster => "L",
            Self::Classic => "p",
            Self::Off => "",
        }
    }

    /// How scripts are told to return what the client publishes for them.
    pub(crate) fn letter_to_return(self, is_cluster: bool) -> &'static str {
        match self {
            Self::Sharded if is_cluster => "R",
            Self::Sharded => "r",
            Self::Classic if is_cluster => "N",
            Self::Classic => "n",
            Self::Off => "",
        }
    }

    /// The next best kind.
    pub(crate) fn fallback(self) -> Self {
        match self {
            Self::Sharded => Self::Classic,
            Self::Classic | Self::Off => Self::Off,
        }
    }
}

/// Publishes on a channel without subscribers, to find out whether that works; `None` without pub/sub.
pub(crate) fn try_publishing(mode: PublishMode, channel: &str) -> Option<Cmd> {
    let mut publish = match mode {
        PublishMode::Off => return None,
        mode => cmd(mode.command()),
    };
    publish.arg(channel).arg("");
    Some(publish)
}

/// Publishes from a script, with a key that the server serves. (The commands are not written as in other scripts, which
/// tell what a user needs.)
pub(crate) fn try_publishing_by_script(mode: PublishMode, key: &str, channel: &str) -> Option<Cmd> {
    let mut script = match mode {
        PublishMode::Off => return None,
        _ => cmd("EVAL"),
    };
    let text = format!("return redis.call('{}', ARGV[1], '')", mode.command());
    script.arg(text).arg(1).arg(key).arg(channel);
    Some(script)
}

/// What the servers offer a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The best kind that this user may use.
    pub(crate) mode: PublishMode,
    /// Whether the server has sharded channels.
    pub(crate) sharded: bool,
}

impl Offer {
    /// The best that there is.
    pub(crate) const BEST: Self = Self {
        mode: PublishMode::Sharded,
        sharded: true,
    };

    /// Narrows it by this answer to [`try_publishing`]. Returns whether that has to be tried again.
    pub(crate) fn narrow(&mut self, answer: &Value) -> bool {
        let Some(error) = refusal(answer).filter(|error| is_denied(error)) else {
            return false;
        };
        if self.mode == PublishMode::Sharded {
            self.sharded = !is_unknown(error);
        }
        self.mode = self.mode.fallback();
        true
    }
}

/// Publishes what a script has left to the client: channels and messages.
pub(crate) fn publish_all(mode: PublishMode, notes: &[(String, String)]) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(notes.len());
    for (channel, message) in notes {
        pipeline.cmd(mode.command()).arg(channel).arg(message);
    }
    pipeline
}

/// A push, as far as it matters here.
#[derive(Debug)]
pub(crate) enum Push<'p> {
    /// A word to a waiter, on a channel.
    Message(&'p str, Message),
    /// The server has subscribed this connection to a channel.
    Subscribed(&'p str),
    /// The server has ended a subscription to a channel.
    Unsubscribed(&'p str),
    /// The connection has ended.
    Disconnected,
    /// Anything else.
    Other,
}

impl<'p> Push<'p> {
    /// Reads a push.
    pub(crate) fn of(push: &'p PushInfo) -> Self {
        let mut parts = push.data.iter().map(text);
        match push.kind {
            PushKind::SMessage | PushKind::Message => match (parts.next(), parts.next()) {
                (Some(Some(channel)), Some(Some(told))) => {
                    Message::parse(told).map_or(Self::Other, |told| Self::Message(channel, told))
                }
                _ => Self::Other,
            },
            PushKind::SSubscribe | PushKind::Subscribe => match parts.next() {
                Some(Some(channel)) => Self::Subscribed(channel),
                _ => Self::Other,
            },
            PushKind::SUnsubscribe | PushKind::Unsubscribe => match parts.next() {
                Some(Some(channel)) => Self::Unsubscribed(channel),
                _ => Self::Other,
            },
            PushKind::Disconnection => Self::Disconnected,
            _ => Self::Other,
        }
    }
}
