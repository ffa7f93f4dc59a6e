//! Faults of the processes, one after the other.

use fastrand::Rng;

use crate::side::Side;

/// A fault of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// SIGKILL, while it holds the lock.
    KillHolding,
    /// SIGKILL when it has held the lock for longer than a lease, by extending it.
    KillExtended,
    /// SIGKILL while it waits.
    KillWaiting,
    /// SIGSTOP while it holds the lock, and SIGCONT when another holds it: what it then extends or releases is not its own.
    Freeze,
}

/// A fault, and the side of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incident {
    pub(crate) side: Side,
    pub(crate) deed: Deed,
}

const DEEDS: [Deed; 4] = [
    Deed::KillHolding,
    Deed::KillExtended,
    Deed::KillWaiting,
    Deed::Freeze,
];

/// Everything once for each side, in an order of its own, again and again.
#[derive(Debug)]
pub(crate) struct Docket {
    sides: Vec<Side>,
    rng: Rng,
    left: Vec<Incident>,
    due: Option<Incident>,
    is_running: bool,
}

impl Docket {
    pub(crate) fn new(sides: &[Side], seed: u64) -> Self {
        Self {
            sides: sides.to_vec(),
            rng: Rng::with_seed(seed),
            left: Vec::new(),
            due: None,
            is_running: false,
        }
    }

    /// How many make a round.
    pub(crate) fn len(&self) -> usize {
        self.sides.len() * DEEDS.len()
    }

    /// Whether none is due or running.
    pub(crate) fn is_idle(&self) -> bool {
        self.due.is_none() && !self.is_running
    }

    /// Makes the next one due.
    pub(crate) fn advance(&mut self) {
        if self.left.is_empty() {
            let incident = |side| DEEDS.map(|deed| Incident { side, deed });
            self.left = self.sides.iter().copied().flat_map(incident).collect();
            self.rng.shuffle(&mut self.left);
        }
        self.due = self.left.pop();
    }

    /// The side of which a waiting process is to be killed.
    pub(crate) fn wants_a_waiter(&self) -> Option<Side> {
        let due = self.due.filter(|due| due.deed == Deed::KillWaiting)?;
        Some(due.side)
    }

    /// A waiting process was killed.
    pub(crate) fn has_a_waiter(&mut self) {
        self.due = None;
    }

    /// The next fault of a holder of this side; it runs from now on.
    pub(crate) fn take(&mut self, side: Side) -> Option<Deed> {
        let wanted = |due: &mut Incident| due.side == side && due.deed != Deed::KillWaiting;
        let due = self.due.take_if(wanted)?;
        self.is_running = true;
        Some(due.deed)
    }

    /// The one that was taken is over.
    pub(crate) fn finish(&mut self) {
        self.is_running = false;
    }
}
