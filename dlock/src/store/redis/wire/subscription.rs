//! Commands about channels.

use redis::{Cmd, PushKind, Value, cmd};

use super::publish::PublishMode;
use super::value::text;

/// A command about one channel, which the server confirms by a push.
pub(crate) struct Subscription {
    command: Cmd,
    confirmed_by: PushKind,
}

impl Subscription {
    /// Subscribes; `None` without pub/sub.
    pub(crate) fn begin(mode: PublishMode, channel: &str) -> Option<Self> {
        let (command, confirmed_by) = match mode {
            PublishMode::Sharded => ("SSUBSCRIBE", PushKind::SSubscribe),
            PublishMode::Classic => ("SUBSCRIBE", PushKind::Subscribe),
            PublishMode::Off => return None,
        };
        Some(Self::new(command, channel, confirmed_by))
    }

    /// Unsubscribes. A mode that has stepped down meanwhile has left nothing behind that works.
    pub(crate) fn end(mode: PublishMode, channel: &str) -> Self {
        let (command, confirmed_by) = match mode {
            PublishMode::Sharded => ("SUNSUBSCRIBE", PushKind::SUnsubscribe),
            _ => ("UNSUBSCRIBE", PushKind::Unsubscribe),
        };
        Self::new(command, channel, confirmed_by)
    }

    fn new(command: &str, channel: &str, confirmed_by: PushKind) -> Self {
        let mut command = cmd(command);
        command.arg(channel);
        Self {
            command,
            confirmed_by,
        }
    }

    pub(crate) fn command(&self) -> &Cmd {
        &self.command
    }

    /// Whether the answer confirms it, and is about this channel.
    pub(crate) fn is_confirmed(&self, answer: &Value, channel: &str) -> bool {
        match answer {
            Value::Push { kind, data } => {
                *kind == self.confirmed_by && data.first().and_then(text) == Some(channel)
            }
            _ => false,
        }
    }
}

/// Asks whether the server is there.
pub(crate) fn ping() -> Cmd {
    cmd("PING")
}

/// Whether it is.
pub(crate) fn is_pong(answer: &Value) -> bool {
    matches!(answer, Value::SimpleString(pong) if pong == "PONG")
}
