//! What kind of locks a load is about.

/// What a seed is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockKind {
    /// Read/write locks.
    #[default]
    Rw,
    /// Mutexes, which others take as well who know nothing of dlock.
    Mutex,
    /// Locks of both kinds that most of several servers have.
    Quorum,
}

impl LockKind {
    const ALL: [Self; 3] = [Self::Rw, Self::Mutex, Self::Quorum];

    /// As it is given on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rw => "rw",
            Self::Mutex => "mutex",
            Self::Quorum => "quorum",
        }
    }

    /// The one that is given so.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Which locks are mutexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mutexes {
    /// None.
    #[default]
    None,
    /// The first, the third, and so on.
    Every2nd,
    /// All.
    All,
}

impl Mutexes {
    /// Whether a lock is one.
    #[must_use]
    pub fn has(self, lock: usize) -> bool {
        match self {
            Self::None => false,
            Self::Every2nd => lock.is_multiple_of(2),
            Self::All => true,
        }
    }
}
