//! What servers tell each other.

use super::fleet::NodeId;

/// Something on its way from one server to another.
#[derive(Debug, Clone)]
pub struct Link {
    /// Who sent it.
    pub from: NodeId,
    /// Whom it is for.
    pub to: NodeId,
    /// What it is.
    pub item: LinkItem,
}

/// What is on its way.
#[derive(Debug, Clone)]
pub struct LinkItem;

/// What kind of thing is on its way, for whoever decides what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Changes of data, from a master to its replica, in order.
    Changes,
    /// A replica asks for all data.
    SyncRequest,
    /// All data, from a master to its replica.
    Sync,
    /// A message on a channel.
    Message,
    /// Who serves what, as the sender believes.
    Heartbeat,
}

impl LinkItem {
    /// What kind of thing it is.
    #[must_use]
    pub fn kind(&self) -> LinkKind {
        unimplemented!()
    }
}
