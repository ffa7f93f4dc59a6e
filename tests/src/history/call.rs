//! One call for a lock, from the request to the release, as its caller saw it. Times are nanoseconds of [`now_ns`](super::now_ns).

use std::fmt;

use dlock_load::Patience;

/// A process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// Its number among all.
    pub process: usize,
    /// How often it has been started before.
    pub life: usize,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}-{}", self.process, self.life)
    }
}

/// One call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The caller's process.
    pub of: Who,
    /// Its number in its process.
    pub id: u64,
    /// The lock's number.
    pub lock: usize,
    /// Whether it writes.
    pub write: bool,
    /// The owner, whose calls do not exclude each other.
    pub owner: Option<usize>,
    /// How long it waits.
    pub patience: Patience,
    /// Whether it asks for other locks, too, and returns when it has all.
    pub several: bool,
    /// When it began.
    pub asked: u64,
    /// Its result.
    pub outcome: Outcome,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It never returned: its process was killed, or it waits.
    Unknown,
    /// It returned without the lock.
    Not {
        /// When it returned.
        at: u64,
        /// The error, in a word.
        why: String,
    },
    /// It returned with the lock.
    Got(Got),
}

/// A lock that was held.
#[derive(Debug, Clone)]
pub struct Got {
    /// When the call returned.
    pub since: u64,
    /// The fencing token. Plain mutexes have none.
    pub token: Option<u64>,
    /// The last moment at which a check said that it is still held; nothing if none did.
    pub last: Option<u64>,
    /// When its caller gave it up.
    pub ended: Option<u64>,
    /// When its release returned, if the caller waited for that, and with what.
    pub released: Option<(u64, String)>,
}

impl Call {
    /// The lock it had, if it had one.
    #[must_use]
    pub fn got(&self) -> Option<&Got> {
        match &self.outcome {
            Outcome::Got(got) => Some(got),
            Outcome::Unknown | Outcome::Not { .. } => None,
        }
    }

    /// From when until when its caller believed to hold the lock.
    #[must_use]
    pub fn believed(&self) -> Option<(u64, u64)> {
        let got = self.got()?;
        Some((got.since, got.last?))
    }

    /// Whether both calls are of one owner.
    #[must_use]
    pub fn shares_owner(&self, other: &Self) -> bool {
        self.owner.is_some() && self.owner == other.owner
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
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub u64);

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
