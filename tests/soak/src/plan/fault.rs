//! What goes wrong.

use std::time::Duration;

use dlock_tests::Direction;

use super::{Fall, Members};

/// What kind of trouble a round mostly has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Mixed,
    Network,
    Processes,
    Servers,
    Slots,
}

/// Faults of one track come one after the other; those of different tracks meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Track {
    Network,
    Processes,
    Servers,
}

/// What kind of fault is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultClass {
    Cut,
    HoldBack,
    CutAfter,
    Reset,
    HalfOpen,
    Slow,
    Messages,
    Forge,
    Pause,
    Crash,
    Shutdown,
    Restart,
    SleepServer,
    Failover,
    HandOver,
    Full,
    NoReplicas,
    FlushAll,
    Evict,
    ScriptFlush,
    KillSubscribers,
    KillClients,
    Migrate,
    CallOff,
    Partition,
    Minority,
    Majority,
}

/// One fault. Processes, servers and locks are named by any number, modulo how many there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// Nothing passes in a direction; then all of it late, or nothing and new connections.
    Cut {
        process: usize,
        node: usize,
        direction: Direction,
        resets: bool,
        lasts: Duration,
    },
    /// Some requests arrive long after their connection is gone.
    HoldBack {
        process: usize,
        node: usize,
        times: usize,
        delay: Duration,
    },
    /// Requests are carried out, and their connections cut before the answer.
    CutAfter {
        process: usize,
        node: usize,
        times: usize,
    },
    Reset {
        process: usize,
        node: usize,
    },
    /// A connection that is silent and stays open.
    HalfOpen {
        process: usize,
        node: usize,
    },
    Slow {
        process: usize,
        node: usize,
        slow: Duration,
        lasts: Duration,
    },
    /// Pub/sub messages get lost.
    Messages {
        process: usize,
        lasts: Duration,
    },
    /// A stranger, who may publish on a lock's channels but not read its key, tells waiters that the lock is theirs.
    Forge {
        lock: usize,
        times: u32,
    },
    Pause {
        process: usize,
        lasts: Duration,
    },
    Crash {
        process: usize,
        restart: Duration,
    },
    Shutdown {
        process: usize,
        restart: Duration,
    },
    Restart {
        node: usize,
        with_data: bool,
        after: Duration,
    },
    Sleep {
        node: usize,
        lasts: Duration,
    },
    /// A master dies or falls asleep, and its replica takes over.
    Failover {
        node: usize,
        dies: bool,
        wakes: Duration,
    },
    /// A replica takes over from a master that agrees.
    HandOver {
        node: usize,
    },
    Full {
        node: usize,
        lasts: Duration,
    },
    NoReplicas {
        node: usize,
        lasts: Duration,
    },
    FlushAll {
        node: usize,
    },
    Evict {
        lock: usize,
    },
    ScriptFlush {
        node: usize,
    },
    KillConnections {
        node: usize,
        subscribers: bool,
    },
    /// A lock's slot moves to another master; called off in the middle or not.
    Migrate {
        lock: usize,
        to: usize,
        /// What passes between its steps.
        steps: [Duration; 3],
        call_off: bool,
    },
    /// A process is cut off from some servers of a quorum.
    Partition {
        process: usize,
        from: Members,
        resets: bool,
        lasts: Duration,
    },
    /// Some servers of a quorum fail.
    Down {
        who: Members,
        fall: Fall,
        lasts: Duration,
    },
}

impl Fault {
    /// What it is counted as.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Cut { .. } => "black hole",
            Self::HoldBack { .. } => "held back request",
            Self::CutAfter { .. } => "cut after forwarding",
            Self::Reset { .. } => "connection reset",
            Self::HalfOpen { .. } => "half-open connection",
            Self::Slow { .. } => "delay",
            Self::Messages { .. } => "messages lost",
            Self::Forge { .. } => "forged messages",
            Self::Pause { .. } => "worker stopped (SIGSTOP)",
            Self::Crash { .. } => "worker killed (SIGKILL)",
            Self::Shutdown { .. } => "client shut down",
            Self::Restart { with_data, .. } if *with_data => "restart with data",
            Self::Restart { .. } => "restart without data",
            Self::Sleep { .. } => "server stopped (SIGSTOP)",
            Self::Failover { dies, .. } if *dies => "failover from a killed master",
            Self::Failover { .. } => "failover from a stopped master",
            Self::HandOver { .. } => "manual failover",
            Self::Full { .. } => "out of memory",
            Self::NoReplicas { .. } => "too few replicas",
            Self::FlushAll { .. } => "FLUSHALL",
            Self::Evict { .. } => "eviction",
            Self::ScriptFlush { .. } => "SCRIPT FLUSH",
            Self::KillConnections { .. } => "CLIENT KILL",
            Self::Migrate { call_off, .. } if *call_off => "migration called off",
            Self::Migrate { .. } => "migration",
            Self::Partition { from, .. } if from.is_majority() => "cut off from a majority",
            Self::Partition { .. } => "cut off from a minority",
            Self::Down { who, .. } if who.is_majority() => "majority down",
            Self::Down { fall, .. } => match fall {
                Fall::Stops => "minority stopped (SIGSTOP)",
                Fall::IsCutOff => "minority cut off",
                Fall::Dies => "minority killed, back with data",
                Fall::DiesForgetting => "minority killed, back without data after a lease",
            },
        }
    }
}
