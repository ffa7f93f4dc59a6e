//! What was done to servers and processes, and what that has lost.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Mutex, MutexGuard, PoisonError},
};

use dlock_tests::{history::Seconds, now_ns};

/// Something that loses holds by Redis's nature.
#[derive(Debug, Clone)]
pub(crate) struct Loss {
    pub(crate) what: &'static str,
    pub(crate) locks: Vec<usize>,
    /// Not before this.
    pub(crate) from: u64,
    /// Since when nothing is granted in vain any more; nothing while that goes on.
    pub(crate) until: Option<u64>,
    /// The server that grants in vain until it knows that it has been replaced.
    pub(crate) deposed: Option<usize>,
}

/// No majority of a quorum was there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outage {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// The facts of a round that are not in the histories.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) faults: BTreeMap<&'static str, u64>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) outages: Vec<Outage>,
    /// How long locks of a shard could not be had after its master had stopped to serve.
    pub(crate) gaps_ms: Vec<u64>,
    /// For people.
    pub(crate) log: String,
    /// What went wrong that no lock can be blamed for.
    pub(crate) trouble: Vec<String>,
}

/// The facts, for all tasks to add to.
#[derive(Debug, Default)]
pub(crate) struct Facts(Mutex<Known>);

impl Facts {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault has been done.
    pub(crate) fn count(&self, fault: &'static str) {
        *self.lock().faults.entry(fault).or_default() += 1;
    }

    pub(crate) fn tell(&self, text: impl Display) {
        let line = format!("{} {text}\n", Seconds(now_ns()));
        self.lock().log += &line;
    }

    pub(crate) fn trouble(&self, text: impl Display) {
        self.tell(format_args!("trouble: {text}"));
        self.lock().trouble.push(text.to_string());
    }

    /// Something has been lost just now.
    pub(crate) fn lost(&self, what: &'static str, locks: Vec<usize>, from: u64) {
        let loss = self.loses(what, locks, from);
        self.has_lost(loss);
    }

    /// Something is being lost; returns its number.
    pub(crate) fn loses(&self, what: &'static str, locks: Vec<usize>, from: u64) -> usize {
        self.tell(format_args!("{what}: locks {locks:?}"));
        let losses = &mut self.lock().losses;
        losses.push(Loss {
            what,
            locks,
            from,
            until: None,
            deposed: None,
        });
        losses.len() - 1
    }

    /// No more is lost.
    pub(crate) fn has_lost(&self, loss: usize) {
        self.lock().losses[loss].until = Some(now_ns());
    }

    pub(crate) fn take(&self) -> Known {
        std::mem::take(&mut *self.lock())
    }
}
