//! One channel, as this client sees it.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::clock::Instant;
use crate::protocol::HoldId;
use crate::random::HashSet;
use crate::slot::Slot;
use crate::store::redis::node::NodeId;

/// A channel's name: a lock's channel to this client in a cluster, the client's only one elsewhere.
pub(super) type Name = Arc<str>;

/// A channel that somebody listens to, or did a moment ago.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) slot: Slot,
    pub(super) state: State,
    pub(super) holds: HashSet<HoldId>,
    /// Since when nobody listens.
    pub(super) idle_since: Option<Instant>,
    /// Whether listeners may have missed a message, so that they must look once the channel is live.
    pub(super) missed: bool,
    /// Whether it could not be had since it was live last, so that it may be so again.
    pub(super) failed: bool,
    /// Tells those who wait for the channel to be live.
    pub(super) changed: Arc<Notify>,
}

/// Whether messages arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// On the way to being subscribed.
    Pending,
    /// Asked for on the connection with this number.
    Asked(u64),
    /// Subscribed at a node, on the connection with this number.
    Live(NodeId, u64),
    /// Neither; the keeper will see to it.
    Lost,
}

impl Channel {
    pub(super) fn new(slot: Slot) -> Self {
        Self {
            slot,
            state: State::Pending,
            holds: HashSet::default(),
            idle_since: None,
            missed: false,
            failed: false,
            changed: Arc::default(),
        }
    }

    /// Whether it hangs on this connection.
    pub(super) fn is_on(&self, number: u64) -> bool {
        matches!(self.state, State::Asked(on) | State::Live(_, on) if on == number)
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Live(..))
    }

    /// Whether it is about to be live, as far as anybody can tell.
    pub(super) fn is_promising(&self) -> bool {
        !self.failed && self.is_pending()
    }

    pub(super) fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending | State::Asked(_))
    }

    /// Messages no longer arrive: the listeners, who should look by themselves.
    pub(super) fn lose(&mut self) -> impl Iterator<Item = HoldId> {
        self.state = State::Lost;
        self.missed = true;
        self.changed.notify_waiters();
        self.holds.iter().cloned()
    }
}
