//! What many do one after the other.

/// A sequence of operations with any number of those who take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// Readers leave while a writer waits.
    Drain,
    /// Readers who waited for a writer enter.
    Phase,
    /// Readers died, and a writer comes.
    CrashedHolds,
    /// Writers died while they waited, and another one comes.
    CrashedPlaces,
}

impl Sequence {
    pub(crate) const ALL: [Self; 4] = [
        Self::Drain,
        Self::Phase,
        Self::CrashedHolds,
        Self::CrashedPlaces,
    ];

    /// What it is called in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Drain => "readers leave, a writer waits",
            Self::Phase => "waiting readers enter",
            Self::CrashedHolds => "crashed readers, cleared",
            Self::CrashedPlaces => "crashed waiters, cleared",
        }
    }

    /// How many messages it takes with `n`, without a crash.
    pub(crate) fn messages(self, n: usize) -> Option<usize> {
        match self {
            Self::Drain => Some(1),
            Self::Phase => Some(n),
            Self::CrashedHolds | Self::CrashedPlaces => None,
        }
    }
}
