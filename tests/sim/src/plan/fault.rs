//! What goes wrong.

use crate::engine::{Cut, End, Mend, Messages, Nanos};

/// What kind of trouble a seed mostly has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Mixed,
    Network,
    Processes,
    Messages,
    Servers,
    Slots,
}

/// What kind of fault is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultClass {
    Cut,
    HoldBack,
    Reset,
    HalfOpen,
    Slow,
    Pause,
    Suspend,
    Crash,
    Shutdown,
    Messages,
    Forge,
    KillSubscribers,
    KillClients,
    CutBus,
    Restart,
    SleepServer,
    Failover,
    HandOver,
    FailScript,
    Full,
    NoReplicas,
    Loading,
    FlushAll,
    Evict,
    ScriptFlush,
    ClockStep,
    Migrate,
    CallOff,
}

/// Whether the connection on which a request is held back breaks for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    Not,
    /// When so much time has passed since the fault began as it is held back for: shortly before it arrives.
    Late,
    /// As it leaves, so that another copy of it arrives long before.
    AtOnce,
}

/// One fault. Processes are named by their numbers in the plan, servers by any number, modulo how many there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    Cut {
        process: usize,
        node: usize,
        cut: Cut,
        mend: Mend,
        lasts: Nanos,
    },
    HoldBack {
        process: usize,
        node: usize,
        after: u32,
        delay: Nanos,
        breaks: Breaks,
    },
    Reset {
        process: usize,
        node: usize,
    },
    HalfOpen {
        process: usize,
        node: usize,
    },
    Slow {
        process: usize,
        node: usize,
        slow: Nanos,
        lasts: Nanos,
    },
    /// For all processes.
    SlowServer {
        node: usize,
        slow: Nanos,
        lasts: Nanos,
    },
    Pause {
        process: usize,
        suspend: bool,
        lasts: Nanos,
    },
    Crash {
        process: usize,
        end: End,
        /// When another one goes on with its work.
        restart: Option<Nanos>,
    },
    Shutdown {
        process: usize,
        /// For how long those may finish who hold something.
        drain: Option<Nanos>,
        restart: Option<Nanos>,
    },
    Messages {
        process: usize,
        messages: Messages,
        lasts: Nanos,
    },
    /// A stranger, who may publish on a lock's channels but not read its key, tells waiters that the lock is theirs.
    Forge {
        lock: usize,
        times: u32,
    },
    KillConnections {
        node: usize,
        subscribers: bool,
    },
    CutBus {
        from: usize,
        to: usize,
        lasts: Nanos,
    },
    Restart {
        node: usize,
        with_data: bool,
        after: Nanos,
    },
    Sleep {
        node: usize,
        clients_first: bool,
        lasts: Nanos,
    },
    /// A master dies or falls asleep, and its replica takes over after a while.
    Failover {
        node: usize,
        dies: bool,
        takes: Nanos,
        wakes: Nanos,
        clients_first: bool,
    },
    /// A replica takes over from a master that agrees.
    HandOver {
        node: usize,
    },
    FailScript {
        node: usize,
        at_call: usize,
        /// `None`: an error; otherwise the server dies, and whether what was done is kept and heard.
        dies: Option<(bool, bool)>,
        after: Nanos,
    },
    Full {
        node: usize,
        lasts: Nanos,
    },
    NoReplicas {
        node: usize,
        lasts: Nanos,
    },
    Loading {
        node: usize,
        lasts: Nanos,
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
    ClockStep {
        node: usize,
        micros: i64,
    },
    /// A lock's slot moves to another master in one step, or stays, after a pause in which the master carries out no writes.
    MoveAtOnce {
        lock: usize,
        to: usize,
        pause: Nanos,
        moves: bool,
    },
    /// A lock's slot moves to another master, or is about to.
    Migrate {
        lock: usize,
        to: usize,
        /// What passes between its steps.
        steps: [Nanos; 4],
        outcome: Outcome,
    },
}

/// What comes of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The slot moves; whether the operator tells the old owner at once.
    Moves { told: bool },
    /// It is called off in the middle; whether at the source before the target.
    Stays { source_first: bool },
}

impl Fault {
    /// Whether holders and waiters are to notice nothing of it but a delay.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(
            self,
            Self::Messages { .. }
                | Self::Forge { .. }
                | Self::ScriptFlush { .. }
                | Self::Migrate {
                    outcome: Outcome::Moves { .. },
                    ..
                }
        )
    }

    /// Whether all goes on as before once it is over: a request was late, that is all.
    pub(crate) fn breaks_nothing(&self) -> bool {
        matches!(
            self,
            Self::HoldBack {
                breaks: Breaks::Not,
                ..
            }
        )
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        (self.dropped, self.doubled, self.late) == (other.dropped, other.doubled, other.late)
    }
}

/// When it happens, in the course of the work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FaultPlan {
    pub(crate) number: u64,
    pub(crate) when: When,
    pub(crate) fault: Fault,
}

/// The moment of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// So many acquires have begun, and this time has passed since.
    After(usize, Nanos),
    /// At this time.
    At(Nanos),
}
