//! The trace of one run.

use std::fmt::Write;

/// What an entry of the timeline is about; a reader may leave some out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A fault begins or ends.
    Fault,
    /// What a client asked for and got.
    Client,
    /// What judges say.
    Judge,
    /// Bytes on the network.
    Wire,
}

/// A hash of all that happened, and, if wanted, the story.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    timeline: Option<Vec<(u64, Kind, String)>>,
}

const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;

impl Trace {
    /// With a timeline if it is to be read.
    pub(crate) fn new(told: bool) -> Self {
        Self {
            hash: PRIME,
            timeline: told.then(Vec::new),
        }
    }

    fn add(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(PRIME);
    }

    /// Something happened.
    pub(crate) fn step(&mut self, now: u64, what: &str, whom: u64, bytes: &[u8]) {
        self.add(now);
        self.add(whom);
        self.bytes(what.as_bytes());
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    /// Something that a reader wants to know.
    pub(crate) fn tell(&mut self, now: u64, kind: Kind, what: impl FnOnce() -> String) {
        if let Some(timeline) = &mut self.timeline {
            timeline.push((now, kind, what()));
        }
    }

    /// Whether it is going to be read.
    pub(crate) fn is_told(&self) -> bool {
        self.timeline.is_some()
    }

    /// Equal for two runs with equal events.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The story, without the wire unless it is wanted.
    pub(crate) fn timeline(&self, wire: bool) -> String {
        let mut text = String::new();
        for (now, kind, what) in self.timeline.iter().flatten() {
            if *kind == Kind::Wire && !wire {
                continue;
            }
            let mark = match kind {
                Kind::Fault => "!",
                Kind::Client => " ",
                Kind::Judge => "#",
                Kind::Wire => ".",
            };
            let (seconds, micros) = (now / 1_000_000_000, now / 1000 % 1_000_000);
            // Writing to a string does not fail.
            let _ = writeln!(text, "{seconds:4}.{micros:06} {mark} {what}");
        }
        text
    }
}
