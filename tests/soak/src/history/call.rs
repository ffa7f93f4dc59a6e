//! One call for a lock, from asking to giving back, as its caller saw it. Times are nanoseconds of the machine's clock.

use std::fmt;

use dlock_load::Patience;

/// A process: its number in the plan, and how often it has been started before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Who {
    pub(crate) process: usize,
    pub(crate) life: usize,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}-{}", self.process, self.life)
    }
}

/// One call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) of: Who,
    pub(crate) id: u64,
    pub(crate) lock: usize,
    pub(crate) write: bool,
    pub(crate) owner: Option<usize>,
    pub(crate) patience: Patience,
    /// Whether it asks for others, too, and returns when it has all.
    pub(crate) several: bool,
    pub(crate) asked: u64,
    pub(crate) outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// It never returned: its process was killed, or it waits.
    Unknown,
    /// It returned without the lock.
    Not {
        at: u64,
        why: String,
    },
    Got(Got),
}

/// A lock that was had.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) since: u64,
    /// Plain mutexes have none.
    pub(crate) token: Option<u64>,
    /// The last moment at which its caller was told that it still holds it; nothing if it was told so at no time.
    pub(crate) last: Option<u64>,
    /// When its caller gave it up.
    pub(crate) ended: Option<u64>,
    /// When its release returned, if that was waited for, and what with.
    pub(crate) released: Option<(u64, String)>,
}

impl Call {
    /// The lock it had, if it had one.
    pub(crate) fn got(&self) -> Option<&Got> {
        match &self.outcome {
            Outcome::Got(got) => Some(got),
            Outcome::Unknown | Outcome::Not { .. } => None,
        }
    }

    /// Whether two calls must not hold the lock at the same time.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        let same_owner = self.owner.is_some() && self.owner == other.owner;
        self.lock == other.lock && (self.write || other.write) && !same_owner
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, id, lock, .. } = self;
        let mode = if self.write { "write" } else { "read" };
        write!(f, "{of} #{id} ({mode} lock {lock}")?;
        if let Some(owner) = self.owner {
            write!(f, ", owner {owner}")?;
        }
        write!(f, ") asked at {}", Seconds(self.asked))?;
        match &self.outcome {
            Outcome::Unknown => Ok(()),
            Outcome::Not { at, why } => write!(f, ", {why} at {}", Seconds(*at)),
            Outcome::Got(got) => {
                match got.token {
                    Some(token) => write!(f, ", token {token}")?,
                    None => write!(f, ", granted")?,
                }
                write!(f, " at {}", Seconds(got.since))?;
                if let Some(last) = got.last {
                    write!(f, ", believed until {}", Seconds(last))?;
                }
                Ok(())
            }
        }
    }
}

/// A moment, for people.
pub(crate) struct Seconds(pub(crate) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at) = self;
        write!(
            f,
            "{}.{:06} s",
            at / 1_000_000_000,
            at % 1_000_000_000 / 1000
        )
    }
}
