//! A waiter's ear, whatever the store.

use super::redis;
use super::{Listener, Origin};
use crate::protocol::Nonce;
use crate::token::ServerToken;

/// A waiter's ear.
#[derive(Debug)]
#[must_use = "dropping it stops listening"]
pub(crate) enum Listening {
    /// In this process.
    Memory(Listener),
    /// On Redis.
    Redis(redis::Listening),
    /// Servers of a quorum send no wake-ups: a waiter polls again after the pause that the answer names.
    Quorum,
}

impl Listening {
    /// Whether wake-ups can arrive.
    pub(crate) fn is_subscribed(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Redis(listening) => listening.is_subscribed(),
            Self::Quorum => false,
        }
    }

    /// Whether wake-ups can be relied on; otherwise the waiter has to look often.
    pub(crate) fn is_told(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Quorum => true,
            Self::Redis(listening) => listening.is_told(),
        }
    }

    /// Whether the waiter will be woken when wake-ups can arrive.
    pub(crate) fn is_promising(&self) -> bool {
        match self {
            Self::Memory(_) | Self::Quorum => false,
            Self::Redis(listening) => listening.is_promising(),
        }
    }

    /// The lock became free, and a wake-up came, or did not.
    pub(crate) fn note(&self, told: bool) {
        if let Self::Redis(listening) = self {
            listening.note(told);
        }
    }

    /// The server is asked again: what came before counts no more. What the request has to name.
    pub(crate) fn begin(&self) -> Nonce {
        match self {
            Self::Memory(listener) => listener.begin(),
            Self::Redis(listening) => listening.begin(),
            Self::Quorum => Nonce::NOBODY,
        }
    }

    /// The request may be known to two servers: no grant is believed until the next one.
    pub(crate) fn distrust(&self) {
        match self {
            Self::Memory(listener) => listener.distrust(),
            Self::Redis(listening) => listening.distrust(),
            Self::Quorum => {}
        }
    }

    /// Completes at the next wake-up, or at once if one has come since the last time. The token if
    /// the lock has been passed on.
    pub(crate) async fn woken(&self) -> Option<(ServerToken, Origin)> {
        match self {
            Self::Memory(listener) => listener.woken().await,
            Self::Redis(listening) => listening.woken().await,
            Self::Quorum => std::future::pending().await,
        }
    }
}
