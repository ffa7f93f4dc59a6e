//! Simulated processes.

use super::Nanos;
use super::Random;
use super::clock::Clock;

/// One of the processes. The first is the simulation itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcId(pub(crate) usize);

/// How a process ends that was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Killed: the machine closes its connections.
    Killed,
    /// The machine loses power: no other process hears of it.
    PowerLoss,
}

/// One process.
#[derive(Debug)]
pub(crate) struct Process {
    /// In the plan.
    pub(crate) number: usize,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) alive: bool,
    /// Since when it does not run, and whether its machine is suspended.
    pub(crate) stopped: Option<(Nanos, bool)>,
    /// Since when it runs, if it does.
    pub(crate) resumed: Nanos,
    /// How many faults keep it stopped.
    pub(crate) stops: u32,
    /// What could run if it did.
    pub(crate) parked: Vec<u64>,
}

impl Process {
    pub(crate) fn new(number: usize, clock: Clock, random: Random) -> Self {
        Self {
            number,
            clock,
            random,
            alive: true,
            stopped: None,
            resumed: 0,
            stops: 0,
            parked: Vec::new(),
        }
    }

    pub(crate) fn runs(&self) -> bool {
        self.alive && self.stopped.is_none()
    }
}
