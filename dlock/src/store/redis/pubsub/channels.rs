//! All channels of a client.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::clock::Instant;
use crate::protocol::HoldId;
use crate::random::{HashMap, HashSet};
use crate::slot::Slot;
use crate::store::redis::node::NodeId;

/// Channels by name. The lock is held for moments only.
#[derive(Default)]
pub(super) struct Channels {
    table: Mutex<Table>,
}

/// What the lock guards.
#[derive(Default)]
pub(super) struct Table {
    pub(super) channels: HashMap<Name, Channel>,
    /// How many of them have no listener.
    pub(super) idle: usize,
}

/// What a new listener has to know.
pub(super) struct Joined {
    /// No subscription of this channel was requested yet.
    pub(super) is_new: bool,
    pub(super) changed: Arc<Notify>,
}

/// What was live elsewhere than it should be.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) unsubscribe: Vec<(Name, NodeId, u64)>,
    pub(super) listeners: Vec<HoldId>,
}

impl Channels {
    pub(super) fn is_empty(&self) -> bool {
        self.lock().channels.is_empty()
    }

    /// Adds a listener.
    pub(super) fn join(&self, name: &Name, slot: Slot, hold: &HoldId) -> Joined {
        let mut table = self.lock();
        let table = &mut *table;
        let mut is_new = false;
        let channel = table.channels.entry(Arc::clone(name)).or_insert_with(|| {
            is_new = true;
            Channel::new(slot)
        });
        if channel.state == State::Lost {
            channel.state = State::Pending;
            is_new = true;
        }
        if channel.idle_since.take().is_some() {
            table.idle -= 1;
        }
        channel.holds.insert(hold.clone());
        Joined {
            is_new,
            changed: Arc::clone(&channel.changed),
        }
    }

    /// Adds a listener if the channel is live; whether it is.
    pub(super) fn join_if_live(&self, name: &Name, hold: &HoldId) -> bool {
        let mut table = self.lock();
        let table = &mut *table;
        let channel = table.channels.get_mut(name);
        let Some(channel) = channel.filter(|channel| channel.is_live()) else {
            return false;
        };
        if channel.idle_since.take().is_some() {
            table.idle -= 1;
        }
        channel.holds.insert(hold.clone());
        true
    }

    /// Takes a listener away.
    pub(super) fn leave(&self, name: &Name, hold: &HoldId) {
        let mut table = self.lock();
        let table = &mut *table;
        let Some(channel) = table.channels.get_mut(name) else {
            return;
        };
        if channel.holds.remove(hold) && channel.holds.is_empty() {
            channel.idle_since = Some(Instant::now());
            table.idle += 1;
        }
    }

    pub(super) fn is_live(&self, name: &Name) -> bool {
        self.lock().channels.get(name).is_some_and(Channel::is_live)
    }

    pub(super) fn is_pending(&self, name: &Name) -> bool {
        let table = self.lock();
        table.channels.get(name).is_some_and(Channel::is_pending)
    }

    pub(super) fn is_promising(&self, name: &Name) -> bool {
        let table = self.lock();
        (table.channels.get(name)).is_some_and(Channel::is_promising)
    }

    /// A listener does not wait for the channel any longer, so it may miss something.
    pub(super) fn give_up(&self, name: &Name) {
        if let Some(channel) = self.lock().channels.get_mut(name) {
            channel.missed = true;
        }
    }

    /// Whether a pending channel is still wanted, so that it is asked for now on this connection; forgets it otherwise.
    pub(super) fn ask(&self, name: &Name, number: u64) -> bool {
        let mut table = self.lock();
        let Some(channel) = table.channels.get_mut(name) else {
            return false;
        };
        if channel.state != State::Pending {
            return false;
        }
        if channel.holds.is_empty() {
            table.forget(name);
            return false;
        }
        channel.state = State::Asked(number);
        true
    }

    /// The server has subscribed a channel that was asked for. The listeners that may have missed something.
    pub(super) fn confirm(&self, name: &str, node: NodeId, number: u64) -> Vec<HoldId> {
        let mut table = self.lock();
        let channel = table.channels.get_mut(name);
        let Some(channel) = channel.filter(|channel| channel.state == State::Asked(number)) else {
            return Vec::new();
        };
        channel.state = State::Live(node, number);
        channel.failed = false;
        channel.changed.notify_waiters();
        if std::mem::take(&mut channel.missed) {
            channel.holds.iter().cloned().collect()
        } else {
            Vec::new()
        }
    }

    /// A channel could not be asked for. The listeners that relied on it.
    pub(super) fn fail(&self, name: &Name) -> Vec<HoldId> {
        self.fail_at(name, State::Pending)
    }

    /// A channel was asked for on this connection, and refused. The listeners that relied on it.
    pub(super) fn refused(&self, name: &Name, number: u64) -> Vec<HoldId> {
        self.fail_at(name, State::Asked(number))
    }

    fn fail_at(&self, name: &Name, state: State) -> Vec<HoldId> {
        let mut table = self.lock();
        let channel = table.channels.get_mut(name);
        let Some(channel) = channel.filter(|channel| channel.state == state) else {
            return Vec::new();
        };
        let relied = channel.is_promising();
        channel.failed = true;
        let listeners = channel.lose();
        if relied {
            listeners.collect()
        } else {
            Vec::new()
        }
    }

    /// A connection has ended. The listeners of its channels.
    pub(super) fn lose_connection(&self, number: u64) -> Vec<HoldId> {
        let mut table = self.lock();
        let lost = table.channels.values_mut();
        lost.filter(|channel| channel.is_on(number))
            .flat_map(Channel::lose)
            .collect()
    }

    /// No connection is to be relied on. The listeners of all channels.
    pub(super) fn lose_all(&self) -> Vec<HoldId> {
        let mut table = self.lock();
        table
            .channels
            .values_mut()
            .flat_map(Channel::lose)
            .collect()
    }

    /// The server has ended a subscription of a connection. The channel's listeners, if it was not our wish.
    pub(super) fn lose_channel(&self, name: &str, number: u64) -> Vec<HoldId> {
        let mut table = self.lock();
        let channel = table.channels.get_mut(name);
        let channel = channel.filter(|channel| channel.is_on(number));
        channel.map_or_else(Vec::new, |channel| channel.lose().collect())
    }

    /// Channels that are live at another node than their owner: lost from now on.
    pub(super) fn lose_moved(&self, owner: impl Fn(Slot) -> Option<NodeId>) -> Moved {
        let mut moved = Moved::default();
        for (name, channel) in &mut self.lock().channels {
            if let State::Live(node, number) = channel.state
                && owner(channel.slot) != Some(node)
            {
                moved.listeners.extend(channel.lose());
                moved.unsubscribe.push((Arc::clone(name), node, number));
            }
        }
        moved
    }

    /// Whether a channel hangs on this connection.
    pub(super) fn is_on(&self, name: &Name, number: u64) -> bool {
        let table = self.lock();
        let channel = table.channels.get(name);
        channel.is_some_and(|channel| channel.is_on(number))
    }

    /// Whether a connection has any channels.
    pub(super) fn uses(&self, number: u64) -> bool {
        let table = self.lock();
        let mut channels = table.channels.values();
        channels.any(|channel| matches!(channel.state, State::Live(_, on) if on == number))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

impl Table {
    pub(super) fn forget(&mut self, name: &Name) {
        if let Some(channel) = self.channels.remove(name)
            && channel.idle_since.is_some()
        {
            self.idle -= 1;
        }
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.lock();
        f.debug_struct("Channels")
            .field("known", &table.channels.len())
            .field("idle", &table.idle)
            .finish()
    }
}

/// A channel's name: a lock's channel to this client in a cluster, the client's only one elsewhere.
pub(super) type Name = Arc<str>;

/// A channel with a listener, now or a moment ago.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) slot: Slot,
    pub(super) state: State,
    pub(super) holds: HashSet<HoldId>,
    /// Since when it has no listener.
    pub(super) idle_since: Option<Instant>,
    /// Whether listeners may have missed a message, so that they must look once the channel is live.
    pub(super) missed: bool,
    /// Whether it could not be had since it was live last, so that it may be so again.
    pub(super) failed: bool,
    /// Notifies tasks that wait for the channel to be live.
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

    /// Whether it is about to be live, as far as known.
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
