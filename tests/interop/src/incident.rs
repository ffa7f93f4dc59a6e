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
    /// SIGSTOP while it holds the lock, and SIGCONT when another process holds it: what the process then extends or releases
    /// is no longer its own.
    Freeze,
}

const DEEDS: [Deed; 4] = [
    Deed::KillHolding,
    Deed::KillExtended,
    Deed::KillWaiting,
    Deed::Freeze,
];

/// Every fault once for each side, in a random order, again and again.
#[derive(Debug)]
pub(crate) struct Docket {
    sides: Vec<Side>,
    rng: Rng,
    left: Vec<(Side, Deed)>,
    due: Option<(Side, Deed)>,
    /// Whether the fault that is due has begun.
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

    /// How many faults make a round.
    pub(crate) fn len(&self) -> usize {
        self.sides.len() * DEEDS.len()
    }

    /// Whether no fault is due or running.
    pub(crate) fn is_idle(&self) -> bool {
        self.due.is_none()
    }

    /// Makes the next fault due.
    pub(crate) fn advance(&mut self) {
        if self.left.is_empty() {
            let faults = |side: &Side| DEEDS.map(|deed| (*side, deed));
            self.left = self.sides.iter().flat_map(faults).collect();
            self.rng.shuffle(&mut self.left);
        }
        self.due = self.left.pop();
    }

    /// The side of which a waiting process is to be killed.
    pub(crate) fn wants_a_waiter(&self) -> Option<Side> {
        let (side, deed) = self.due?;
        (deed == Deed::KillWaiting).then_some(side)
    }

    /// The fault that is due for a holder of this side; the fault begins.
    pub(crate) fn take(&mut self, side: Side) -> Option<Deed> {
        let wanted = |due: &(Side, Deed)| due.0 == side && due.1 != Deed::KillWaiting;
        let (_, deed) = self.due.filter(wanted).filter(|_| !self.is_running)?;
        self.is_running = true;
        Some(deed)
    }

    /// The fault that was due is over.
    pub(crate) fn finish(&mut self) {
        (self.due, self.is_running) = (None, false);
    }
}
