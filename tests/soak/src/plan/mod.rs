//! What a seed means: who does what, and what goes wrong. Drivers and workers draw the same from it.

mod draw;
mod fault;
mod mutexes;
mod quorum;

pub(crate) use dlock_load::{LockKind, Mutexes};
use dlock_load::{Op, Random, Shape};

pub(crate) use self::{
    draw::fault,
    fault::{Fault, FaultClass, Theme, Track},
    quorum::{Fall, MEMBERS, Members},
};

/// What kind of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    /// One by itself.
    Single,
    /// Three masters with a replica each.
    Cluster,
    /// Five that have nothing to do with one another.
    Apart,
}

impl Topology {
    const ALL: [Self; 3] = [Self::Single, Self::Cluster, Self::Apart];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Cluster => "cluster",
            Self::Apart => "apart",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Which locks are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Dlock,
    /// `SET NX PX`, and a script that deletes what is still one's own.
    Plain,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Dlock, Self::Plain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dlock => "dlock",
            Self::Plain => "plain",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a plan is drawn from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) round: u64,
    pub(crate) topology: Topology,
    pub(crate) lock: LockKind,
    pub(crate) kind: Kind,
}

/// One task of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskPlan {
    /// What its operations are drawn by.
    pub(crate) number: u64,
    pub(crate) shape: Shape,
}

/// One process. Times are in ms.
#[derive(Debug, Clone)]
pub(crate) struct ProcessPlan {
    /// What it takes locks with.
    pub(crate) system: Kind,
    /// Whether it asks for tokens of mutexes.
    pub(crate) mutexes_as: dlock::LockKind,
    pub(crate) lease: u64,
    /// How long it keeps a read/write lock for its next task.
    pub(crate) linger: u64,
    pub(crate) response_timeout: u64,
    pub(crate) retry_for: u64,
    pub(crate) tasks: Vec<TaskPlan>,
}

/// One round.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) draw: Draw,
    pub(crate) full_coverage: bool,
    /// Whether servers keep a file of what they did, and have all of it when they start again.
    pub(crate) persistent: bool,
    /// Whether faults may lose data.
    pub(crate) lossy: bool,
    pub(crate) theme: Theme,
    pub(crate) locks: usize,
    pub(crate) mutexes: Mutexes,
    pub(crate) processes: Vec<ProcessPlan>,
}

impl Draw {
    /// A stream of random numbers of this round.
    pub(crate) fn random(&self, name: &str, number: u64) -> Random {
        let mut of_round = Random::of(self.seed, "round", self.round);
        Random::of(of_round.any(), name, number)
    }
}

impl Plan {
    /// The operation with this number of a task of a process.
    pub(crate) fn op(&self, process: usize, task: TaskPlan, number: u64) -> Op {
        let random = self.draw.random("op", task.number << 32 | number);
        let lease = self.processes[process].lease;
        let op = task.shape.op(self.locks, lease * dlock_load::MS, random);
        draw::temper(
            op,
            self,
            &self.processes[process],
            self.draw.random("temper", task.number << 32 | number),
        )
    }

    /// What stands before a client in the name of a lock's channel.
    pub(crate) fn channel_of(&self, lock: usize) -> String {
        let key = key_of(lock);
        let name = key.strip_prefix(PREFIX).unwrap_or(&key);
        if self.mutexes.has(lock) {
            format!("{PREFIX}~c~m::{key}")
        } else {
            format!("{PREFIX}~c{name}")
        }
    }

    /// A client's only channel on a single server.
    pub(crate) fn channel_of_client(client: &str) -> String {
        format!("{PREFIX}~c:{client}")
    }

    /// The longest lease, in ms.
    pub(crate) fn longest_lease(&self) -> u64 {
        let leases = self.processes.iter().map(|process| process.lease);
        leases.max().unwrap_or(0)
    }
}

/// How many locks there are, whatever the shapes want.
pub(crate) fn lock_count(plan: &Plan) -> usize {
    plan.locks.max(4)
}

/// A read/write lock's name. Some share a slot.
fn lock_name(number: usize) -> String {
    match number % 3 {
        1 => format!("{{shared}}:{number}"),
        _ => format!("lock:{number}"),
    }
}

/// A lock's name, as clients of dlock have it: a mutex is called by its key.
pub(crate) fn name_as(kind: dlock::LockKind, number: usize) -> String {
    match kind {
        dlock::LockKind::Rw => lock_name(number),
        _ => key_of(number),
    }
}

/// The prefix of everything.
pub(crate) const PREFIX: &str = "soak";

/// The key of a lock, of whichever kind.
pub(crate) fn key_of(number: usize) -> String {
    key_named(&lock_name(number))
}

/// The key of a lock with this name.
pub(crate) fn key_named(name: &str) -> String {
    if name.starts_with('{') {
        format!("{PREFIX}:{name}")
    } else {
        format!("{PREFIX}:{{{name}}}")
    }
}
