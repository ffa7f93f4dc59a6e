//! What servers send unasked.

use redis::{PushInfo, PushKind};

use super::value::text;
use crate::protocol::Message;

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
