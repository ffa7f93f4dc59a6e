//! What operators and misfortune do to servers.

mod at_once;
mod failover;
mod faults;
mod life;
mod migration;
mod slots;

use super::fleet::NodeId;

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
        /// Whether what the script has done so far is still there after a restart with data, and reaches replicas.
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
