//! What operators and misfortune do to servers.

use std::time::Duration;

use super::fleet::{ConnId, Fleet, NodeId};

/// How a replica becomes the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promotion {
    /// The others have given the master up: what has not reached the replica is lost.
    Automatic,
    /// The master hands over, and nothing is lost (`CLUSTER FAILOVER`).
    Coordinated,
}

/// What a server looks at first when it wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeOrder {
    /// Its clients' requests: it answers them as it was.
    ClientsFirst,
    /// What other servers sent.
    LinksFirst,
}

/// What happens at a call of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailKind {
    /// The command answers this error, for instance `MISCONF …`.
    Error(String),
    /// The server dies there.
    Dies {
        /// Whether what the script has done so far is still there after a restart with data.
        kept: bool,
        /// Whether messages that the script has published so far arrive.
        heard: bool,
    },
}

/// A slot on its way from one master to another. Each step is one of `CLUSTER SETSLOT` or `MIGRATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// The slot.
    pub slot: u16,
    /// Its master when it began.
    pub from: NodeId,
    /// Where it goes.
    pub to: NodeId,
}

impl Fleet {
    /// A server's clock jumps.
    pub fn clock_step(&mut self, _now: Duration, _node: NodeId, _micros: i64) {
        unimplemented!()
    }

    /// From now on a server's clock runs faster (or slower) by so many millionths.
    pub fn clock_rate(&mut self, _now: Duration, _node: NodeId, _ppm: i32) {
        unimplemented!()
    }

    /// A server dies; its connections end.
    pub fn kill(&mut self, _node: NodeId) {
        unimplemented!()
    }

    /// A dead server starts again; a running one is killed first. Without data it is empty; in any case it knows no
    /// script.
    pub fn restart(&mut self, _now: Duration, _node: NodeId, _with_data: bool) {
        unimplemented!()
    }

    /// A replica becomes the master of its master's slots, in a new epoch. The others (the old master as well) hear of
    /// it by the links that this sends. False if it is dead, asleep or no replica, or the master cannot hand over.
    pub fn promote(&mut self, _now: Duration, _replica: NodeId, _how: Promotion) -> bool {
        unimplemented!()
    }

    /// A server stops (SIGSTOP): connections stay, and what arrives waits.
    pub fn sleep(&mut self, _node: NodeId) {
        unimplemented!()
    }

    /// It goes on with what has arrived.
    pub fn wake(&mut self, _now: Duration, _node: NodeId, _order: WakeOrder) {
        unimplemented!()
    }

    /// Marks a slot as importing at `to` and migrating at its master: keys that are not there any more are asked for
    /// at `to`. `None` if `to` is its master already, or one of the two does not run as a master.
    pub fn migrate_begin(&mut self, _now: Duration, _slot: u16, _to: NodeId) -> Option<Migration> {
        unimplemented!()
    }

    /// Moves up to `most` keys; returns how many are left.
    pub fn migrate_keys(&mut self, _now: Duration, _migration: &Migration, _most: usize) -> usize {
        unimplemented!()
    }

    /// Moves the remaining keys, then the new owner takes the slot in a new epoch, which the others hear of by links.
    pub fn migrate_finish(&mut self, _now: Duration, _migration: &Migration) {
        unimplemented!()
    }

    /// Tells the old owner directly that the slot is no longer its own (otherwise it hears by the bus).
    pub fn migrate_tell(&mut self, _now: Duration, _migration: &Migration) {
        unimplemented!()
    }

    /// Calls a migration off at the old owner, which answers MOVED to nobody and ASK to nobody from now on.
    pub fn migrate_call_off(&mut self, _now: Duration, _migration: &Migration) {
        unimplemented!()
    }

    /// Moves up to `most` keys back after that; returns how many are left.
    pub fn migrate_back(&mut self, _now: Duration, _migration: &Migration, _most: usize) -> usize {
        unimplemented!()
    }

    /// Ends the importing at the target after that.
    pub fn migrate_forget(&mut self, _now: Duration, _migration: &Migration) {
        unimplemented!()
    }

    /// All keys of a master go.
    pub fn flushall(&mut self, _now: Duration, _node: NodeId) {
        unimplemented!()
    }

    /// A key is evicted; whether it was there.
    pub fn evict(&mut self, _now: Duration, _node: NodeId, _key: &[u8]) -> bool {
        unimplemented!()
    }

    /// Whether a server is over its `maxmemory`, with `noeviction`.
    pub fn set_full(&mut self, _node: NodeId, _full: bool) {
        unimplemented!()
    }

    /// How many good replicas a master wants before it writes (`min-replicas-to-write`). A server of a cluster has as
    /// many as have acknowledged in the last ten seconds.
    pub fn set_min_replicas(&mut self, _node: NodeId, _replicas: usize) {
        unimplemented!()
    }

    /// Whether a server is loading its data, and refuses nearly everything meanwhile.
    pub fn set_loading(&mut self, _node: NodeId, _loading: bool) {
        unimplemented!()
    }

    /// The next script that comes to a `n`th call (from 1) at this server fails there.
    pub fn fail_script_at_call(&mut self, _node: NodeId, _n: usize, _how: FailKind) {
        unimplemented!()
    }

    /// Whether a failure that was ordered has not happened yet; takes it back.
    pub fn clear_script_failure(&mut self, _node: NodeId) -> bool {
        unimplemented!()
    }

    /// A server forgets its scripts.
    pub fn script_flush(&mut self, _node: NodeId) {
        unimplemented!()
    }

    /// A server closes a connection.
    pub fn client_kill(&mut self, _conn: ConnId) {
        unimplemented!()
    }

    /// A server closes its connections: those that have subscribed to something, or the others.
    pub fn client_kill_all(&mut self, _node: NodeId, _subscribers: bool) {
        unimplemented!()
    }
}
