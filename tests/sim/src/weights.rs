//! How often what is drawn, but for the load, of which `dlock_load` says so. Fixed before any mutant was tried, and not tuned to them.

use crate::engine::{MS, Nanos, SECOND};
use crate::plan::{FaultClass, Mutexes, Theme};
use crate::server::Flavour;

/// Which servers.
pub(crate) const FLAVOURS: [(u32, Flavour); 4] = [
    (1, Flavour::Redis62),
    (1, Flavour::Redis70),
    (1, Flavour::Redis80),
    (1, Flavour::Valkey81),
];

/// Masters and replicas of each; none of the latter is a server by itself.
pub(crate) const FLEETS: [(u32, (usize, usize)); 5] = [
    (4, (0, 0)),
    (1, (1, 1)),
    (3, (2, 0)),
    (3, (2, 1)),
    (1, (3, 1)),
];

/// What kind of trouble a seed mostly has.
pub(crate) const THEMES: [(u32, Theme); 6] = [
    (2, Theme::Mixed),
    (3, Theme::Network),
    (3, Theme::Processes),
    (2, Theme::Messages),
    (3, Theme::Servers),
    (3, Theme::Slots),
];

/// So many of a thousand faults are of the seed's theme; the others are of any.
pub(crate) const OF_THE_THEME: u32 = 700;

/// The faults of each theme. What needs a cluster or a replica is drawn again where there is none.
pub(crate) const FAULTS: [(Theme, &[(u32, FaultClass)]); 5] = [
    (
        Theme::Network,
        &[
            (4, FaultClass::Cut),
            (3, FaultClass::HoldBack),
            (2, FaultClass::Reset),
            (2, FaultClass::HalfOpen),
            (1, FaultClass::Slow),
        ],
    ),
    (
        Theme::Processes,
        &[
            (5, FaultClass::Pause),
            (2, FaultClass::Suspend),
            (3, FaultClass::Crash),
            (1, FaultClass::Shutdown),
        ],
    ),
    (
        Theme::Messages,
        &[
            (4, FaultClass::Messages),
            (2, FaultClass::Forge),
            (2, FaultClass::KillSubscribers),
            (1, FaultClass::KillClients),
            (1, FaultClass::CutBus),
        ],
    ),
    (
        Theme::Servers,
        &[
            (3, FaultClass::Restart),
            (3, FaultClass::SleepServer),
            (4, FaultClass::Failover),
            (2, FaultClass::HandOver),
            (2, FaultClass::FailScript),
            (2, FaultClass::Full),
            (1, FaultClass::NoReplicas),
            (1, FaultClass::Loading),
            (1, FaultClass::FlushAll),
            (1, FaultClass::Evict),
            (1, FaultClass::ScriptFlush),
            (1, FaultClass::ClockStep),
        ],
    ),
    (
        Theme::Slots,
        &[
            (4, FaultClass::Migrate),
            (4, FaultClass::CallOff),
            (1, FaultClass::Failover),
            (1, FaultClass::HoldBack),
        ],
    ),
];

/// How many faults a seed has: from, to before.
pub(crate) const HOW_MANY_FAULTS: (u64, u64) = (3, 11);

/// How many acquires a seed has, all processes together: from, to before.
pub(crate) const HOW_MANY_ACQUIRES: (u64, u64) = (410, 750);

/// Leases, in ms.
pub(crate) const LEASES: [(u32, u64); 6] = [
    (2, 200),
    (3, 400),
    (4, 1000),
    (3, 3000),
    (2, 10_000),
    (1, 30_000),
];

/// Leases of locks that are held for long beside others, in ms.
pub(crate) const MIXED_LEASES: [(u32, u64); 6] = [
    (3, 200),
    (3, 1000),
    (2, 3000),
    (2, 20_000),
    (2, 70_000),
    (2, 120_000),
];

/// So many of a thousand processes with such leases limit their holds (`max_hold`).
pub(crate) const MAX_HOLDS: u32 = 350;

/// For so many thousandths of the time servers are busy that a storm is about to hit.
pub(crate) const BUSY_AT_REST: [u32; 2] = [350, 450];

/// How long servers may take to answer, in ms.
pub(crate) const RESPONSE_TIMEOUTS: [(u32, u64); 4] = [(2, 100), (3, 300), (3, 1000), (1, 3000)];

/// How long servers may fail, in ms.
pub(crate) const RETRY_FOR: [(u32, u64); 3] = [(2, 1000), (3, 3000), (3, 10_000)];

/// So many of a thousand processes have locks that stay taken for a while after they were given back (`min_hold`).
pub(crate) const MIN_HOLDS: u32 = 120;

/// So many of a thousand processes keep no lock for their next task where others do (`linger`), and for how long those do: from,
/// to before.
pub(crate) const WITHOUT_LINGER: u32 = 250;
pub(crate) const LINGERS: (Nanos, Nanos) = (5 * MS, 2 * SECOND);

/// So many of a thousand seeds with `linger` have a process that uses a lock more often than servers name tokens.
pub(crate) const BURSTS: u32 = 120;

/// So many of a thousand that end well let those finish who hold something (`drain`).
pub(crate) const DRAINS: u32 = 500;

/// What processes' clocks run too fast, in millionths: together with servers' less than the 1 % that is allowed for.
pub(crate) const CLIENT_CLOCKS: [(u32, i32); 5] =
    [(6, 0), (1, 3000), (1, -3000), (1, 4500), (1, -4500)];

/// What servers' clocks do.
pub(crate) const SERVER_CLOCKS: [(u32, i32); 3] = [(8, 0), (1, 4500), (1, -4500)];

/// Which locks are mutexes, of a seed that is about them.
pub(crate) const MUTEXES: [(u32, Mutexes); 2] = [(4, Mutexes::All), (1, Mutexes::Every2nd)];

/// How many processes take mutexes without dlock.
pub(crate) const FOREIGN_PROCESSES: [(u32, u64); 4] = [(3, 0), (3, 1), (3, 2), (1, 4)];

/// How many acquires each of their tasks has: from, to before.
pub(crate) const FOREIGN_ACQUIRES: (u64, u64) = (10, 60);

/// What kind of trouble a quorum mostly has.
pub(crate) const THEMES_OF_QUORUMS: [(u32, Theme); 4] = [
    (2, Theme::Mixed),
    (3, Theme::Network),
    (2, Theme::Processes),
    (5, Theme::Servers),
];

/// How many servers a quorum has.
pub(crate) const MEMBERS: [(u32, usize); 2] = [(4, 5), (1, 3)];

/// How many of their clocks are an hour ahead.
pub(crate) const FAR_AHEAD: [(u32, usize); 3] = [(3, 0), (2, 1), (1, 2)];

/// How much too fast the clock of each is, in millionths, where they drift: together with clients' less than 1 %.
pub(crate) const SERVER_CLOCKS_APART: [(u32, i32); 3] = [(2, 0), (1, 4500), (1, -4500)];

/// Which locks of a quorum are mutexes.
pub(crate) const MUTEXES_OF_QUORUMS: [(u32, Mutexes); 3] = [
    (3, Mutexes::None),
    (2, Mutexes::Every2nd),
    (1, Mutexes::All),
];

/// So many of a thousand times a server may stop although no majority is left then.
pub(crate) const ONE_TOO_MANY: u32 = 300;
