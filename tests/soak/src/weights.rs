//! How often what is drawn, but for the load, of which `dlock_load` says so.

use crate::plan::{Fall, FaultClass, Mutexes, Theme};

/// What kind of trouble a round mostly has.
pub(crate) const THEMES: [(u32, Theme); 5] = [
    (2, Theme::Mixed),
    (3, Theme::Network),
    (3, Theme::Processes),
    (3, Theme::Servers),
    (3, Theme::Slots),
];

/// On the way between a process and a server.
pub(crate) const NETWORK: [(u32, FaultClass); 8] = [
    (4, FaultClass::Cut),
    (3, FaultClass::HoldBack),
    (3, FaultClass::CutAfter),
    (2, FaultClass::Reset),
    (2, FaultClass::HalfOpen),
    (1, FaultClass::Slow),
    (2, FaultClass::Messages),
    (1, FaultClass::Forge),
];

/// On the way to servers that have nothing to do with one another; no client waits for messages of theirs.
pub(crate) const NETWORK_APART: [(u32, FaultClass); 7] = [
    (4, FaultClass::Partition),
    (3, FaultClass::Cut),
    (3, FaultClass::HoldBack),
    (3, FaultClass::CutAfter),
    (2, FaultClass::Reset),
    (2, FaultClass::HalfOpen),
    (1, FaultClass::Slow),
];

/// Of processes.
pub(crate) const PROCESSES: [(u32, FaultClass); 3] = [
    (5, FaultClass::Pause),
    (3, FaultClass::Crash),
    (1, FaultClass::Shutdown),
];

/// Of servers, and what operators do to them.
pub(crate) const SERVERS: [(u32, FaultClass); 12] = [
    (3, FaultClass::Restart),
    (3, FaultClass::SleepServer),
    (4, FaultClass::Failover),
    (2, FaultClass::HandOver),
    (2, FaultClass::Full),
    (1, FaultClass::NoReplicas),
    (1, FaultClass::FlushAll),
    (1, FaultClass::Evict),
    (1, FaultClass::ScriptFlush),
    (1, FaultClass::KillSubscribers),
    (1, FaultClass::KillClients),
    (1, FaultClass::Migrate),
];

/// Of servers that have nothing to do with one another.
pub(crate) const APART: [(u32, FaultClass); 5] = [
    (8, FaultClass::Minority),
    (2, FaultClass::Majority),
    (2, FaultClass::Full),
    (1, FaultClass::ScriptFlush),
    (1, FaultClass::KillClients),
];

/// How a minority of them fails.
pub(crate) const FALLS: [(u32, Fall); 4] = [
    (3, Fall::Stops),
    (3, Fall::IsCutOff),
    (3, Fall::Dies),
    (2, Fall::DiesForgetting),
];

/// Of slots, which move or stay after all.
pub(crate) const SLOTS: [(u32, FaultClass); 4] = [
    (5, FaultClass::Migrate),
    (4, FaultClass::CallOff),
    (1, FaultClass::HandOver),
    (1, FaultClass::ScriptFlush),
];

/// So many of a thousand rounds may lose data, by faults that lose some by Redis's nature. In all others every overlap
/// counts.
pub(crate) const LOSSY: u32 = 400;

/// How many processes a round has: from, to before.
pub(crate) const HOW_MANY_PROCESSES: (u64, u64) = (3, 6);

/// How many locks there are.
pub(crate) const LOCKS: [(u32, usize); 4] = [(4, 1), (4, 2), (2, 4), (1, 12)];

/// Leases, in ms. A limit that is drawn for a round has to run out now and then within it.
pub(crate) const LEASES: [(u32, u64); 5] = [(2, 200), (3, 400), (4, 1000), (3, 3000), (1, 10_000)];

/// So many of a thousand rounds have processes that keep read/write locks for their next task, and so many of their processes do.
pub(crate) const LINGERING_ROUNDS: u32 = 400;
pub(crate) const LINGERING_PROCESSES: u32 = 700;

/// How long servers may take to answer, in ms.
pub(crate) const RESPONSE_TIMEOUTS: [(u32, u64); 4] = [(2, 100), (3, 300), (3, 1000), (1, 3000)];

/// How long servers may fail, in ms.
pub(crate) const RETRY_FOR: [(u32, u64); 3] = [(2, 1000), (3, 3000), (3, 10_000)];

/// Long holds keep others waiting in real time: so many ms of them come to one operation, on average, whatever the lease.
pub(crate) const LONG_HOLDS: u64 = 5;

/// Which locks are mutexes, of a run that is about them.
pub(crate) const MUTEXES: [(u32, Mutexes); 2] = [(4, Mutexes::All), (1, Mutexes::Every2nd)];

/// Which locks of a quorum are mutexes.
pub(crate) const MUTEXES_OF_QUORUMS: [(u32, Mutexes); 3] = [
    (4, Mutexes::None),
    (3, Mutexes::Every2nd),
    (1, Mutexes::All),
];

/// So many of a thousand processes ask for tokens of mutexes, each as often.
pub(crate) const FENCED: [u32; 4] = [0, 500, 500, 1000];

/// How many processes take mutexes without dlock.
pub(crate) const OTHERS: [(u32, u64); 3] = [(3, 0), (3, 1), (2, 2)];
