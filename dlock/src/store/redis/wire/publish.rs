//! How waiters are woken.

use redis::{Pipeline, Value};

use super::refusal::{is_denied, is_unknown, refusal};

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
    /// of one node.
    pub(crate) fn letter(self, is_cluster: bool) -> &'static str {
        match self {
            Self::Sharded => "S",
            Self::Classic if is_cluster => "L",
            Self::Classic => "P",
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

/// Publishes on a channel that nobody hears, in all ways.
pub(crate) fn try_publishing(channel: &str) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    for mode in [PublishMode::Sharded, PublishMode::Classic] {
        pipeline.cmd(mode.command()).arg(channel).arg("");
    }
    pipeline
}

/// What the answers to that tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The best kind that this user may use.
    pub(crate) mode: PublishMode,
    /// Whether the server has sharded channels.
    pub(crate) sharded: bool,
}

impl Offer {
    /// Reads the answers.
    pub(crate) fn of(answers: &[Value]) -> Self {
        let cannot = |answer| refusal(answer).is_some_and(is_denied);
        let mode = match answers {
            [sharded, classic] if cannot(sharded) && cannot(classic) => PublishMode::Off,
            [sharded, _] if cannot(sharded) => PublishMode::Classic,
            _ => PublishMode::Sharded,
        };
        let unknown = |answer| refusal(answer).is_some_and(is_unknown);
        Self {
            mode,
            sharded: !answers.first().is_some_and(unknown),
        }
    }
}

/// Publishes what a script has left to the client: channels and messages.
pub(crate) fn publish_all(notes: &[(String, String)]) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(notes.len());
    for (channel, message) in notes {
        pipeline.cmd("SPUBLISH").arg(channel).arg(message);
    }
    pipeline
}
