//! What servers tell each other.

use std::sync::Arc;

use super::cluster::Beat;
use super::data::{Effect, Keyspace};
use super::fleet::NodeId;

/// Something on its way from one server to another.
#[derive(Debug, Clone)]
pub struct Link {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// What it is.
    pub item: LinkItem,
}

/// A message between servers.
#[derive(Debug, Clone)]
#[expect(
    private_interfaces,
    reason = "the world carries it and looks at its kind only"
)]
#[non_exhaustive]
pub enum LinkItem {
    /// What a master has changed.
    Changes(Changes),
    /// A replica asks for everything.
    SyncRequest,
    /// Everything.
    Sync(Snapshot),
    /// A replica says that it follows.
    Acknowledge,
    /// A message on a channel.
    Message(Message),
    /// The slots of each node.
    Heartbeat(Arc<Beat>),
}

/// Steps of a history of changes.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    pub(super) history: u64,
    /// How many steps come before.
    pub(super) step: u64,
    /// One step, or none, which only tells how far the master is.
    pub(super) effects: Arc<[Effect]>,
}

/// All data at a step of a history.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) history: u64,
    pub(super) step: u64,
    pub(super) data: Arc<Keyspace>,
}

/// A message on a channel.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) channel: Arc<[u8]>,
    pub(super) text: Arc<[u8]>,
    pub(super) sharded: bool,
}

/// The kind of a message, for faults that pick some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Changes of data, from a master to its replica, in order.
    Changes,
    /// A replica asks for all data.
    SyncRequest,
    /// All data, from a master to its replica.
    Sync,
    /// A replica tells its master that it is there.
    Acknowledge,
    /// A message on a channel.
    Message,
    /// The slots of each node, as the sender believes.
    Heartbeat,
}

impl LinkItem {
    /// What kind of thing it is.
    #[must_use]
    pub fn kind(&self) -> LinkKind {
        match self {
            Self::Changes(_) => LinkKind::Changes,
            Self::SyncRequest => LinkKind::SyncRequest,
            Self::Sync(_) => LinkKind::Sync,
            Self::Acknowledge => LinkKind::Acknowledge,
            Self::Message(_) => LinkKind::Message,
            Self::Heartbeat(_) => LinkKind::Heartbeat,
        }
    }
}
