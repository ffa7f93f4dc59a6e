//! Commands about channels.

use redis::{Cmd, Pipeline, PushKind, Value, cmd};

use super::publish::PublishMode;

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
