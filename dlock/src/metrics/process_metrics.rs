//! The metrics of the whole process: commands, redirects, errors.

use metrics::{Histogram, counter, gauge, histogram};

use super::names;
use crate::clock::BootInstant;
use crate::error::{Error, ErrorKind};

/// Handles for what every command reports; the rest is rare and looked up when it happens.
pub(super) struct ProcessMetrics {
    commands: [(&'static str, Histogram); names::OPS.len()],
}

impl ProcessMetrics {
    /// Takes the handles and shows all counters at zero.
    pub(super) fn new() -> Self {
        for kind in Redirect::ALL {
            counter!(names::REDIRECTS, "kind" => kind.as_str()).increment(0);
        }
        for kind in ErrorKind::LABELS {
            counter!(names::ERRORS, "kind" => kind).increment(0);
        }
        counter!(names::TOPOLOGY_CHANGES).increment(0);
        gauge!(names::QUEUED).increment(0.0);
        Self {
            commands: names::OPS.map(|op| (op, histogram!(names::COMMAND, "op" => op))),
        }
    }

    pub(super) fn command(&self, op: &'static str, sent_at: BootInstant) {
        if let Some((_, histogram)) = self.commands.iter().find(|(name, _)| *name == op) {
            histogram.record(BootInstant::now().since(sent_at));
        }
    }
}

/// Why a command was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// `MOVED`: the slot has another master now.
    Moved,
    /// `ASK`: the slot is moving and this key has gone ahead.
    Ask,
    /// `READONLY`: a master became a replica.
    ReadOnly,
    /// `NOSCRIPT`: the server does not have the script yet.
    NoScript,
    /// `TRYAGAIN`, `CLUSTERDOWN`, `LOADING` and the like.
    Later,
    /// No answer: an I/O error or a timeout.
    Unanswered,
}

impl Redirect {
    const ALL: [Self; 6] = [
        Self::Moved,
        Self::Ask,
        Self::ReadOnly,
        Self::NoScript,
        Self::Later,
        Self::Unanswered,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Ask => "ask",
            Self::ReadOnly => "readonly",
            Self::NoScript => "noscript",
            Self::Later => "later",
            Self::Unanswered => "unanswered",
        }
    }
}

/// A command has to be sent again.
pub(crate) fn redirected(kind: Redirect) {
    counter!(names::REDIRECTS, "kind" => kind.as_str()).increment(1);
}

/// So many more acquires wait until fewer requests are under way.
pub(crate) fn queued(more: f64) {
    gauge!(names::QUEUED).increment(more);
}

/// The slot map changed.
pub(crate) fn topology_changed() {
    counter!(names::TOPOLOGY_CHANGES).increment(1);
}

/// An operation failed.
pub(crate) fn failed(error: &Error) {
    counter!(names::ERRORS, "kind" => error.kind().as_str()).increment(1);
}
