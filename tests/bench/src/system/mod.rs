//! The locks under test, behind one interface.

mod distkit;
mod dlock;
mod dlock_mutex;
mod empty;
mod raw;
mod rds_lock;
mod redis_lock;
mod rlock;
mod rslock;
mod shards;

use std::{fmt, str::FromStr, time::Duration};

pub(crate) use self::{
    distkit::Distkit,
    dlock::{Dlock, client},
    dlock_mutex::DlockMutex,
    empty::Empty,
    raw::{Raw, RawToken},
    rds_lock::RdsLock,
    redis_lock::RedisLock,
    rlock::Rlock,
    rslock::Rslock,
    shards::{connection, evalsha},
};

/// How often those look that poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polling {
    /// Every millisecond: much more often than any of them does by default, which shortens their waits and
    /// costs the server as many more requests.
    Tuned,
    /// As often as they do unless told otherwise.
    AsShipped,
}

impl Polling {
    /// The interval of a system whose default this is.
    pub(crate) fn interval(self, default: Duration) -> Duration {
        match self {
            Self::Tuned => Duration::from_millis(1),
            Self::AsShipped => default,
        }
    }

    /// What results are called of a system that polls like this.
    pub(crate) fn label(self, system: impl fmt::Display) -> String {
        match self {
            Self::Tuned => system.to_string(),
            Self::AsShipped => format!("{system} (as shipped)"),
        }
    }
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
}

/// What servers are to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    Standalone,
    Cluster,
    /// Know nothing of one another; a lock is held by who has it on most of them.
    Quorum,
}

/// What to connect with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// One server, or all nodes of a cluster or a quorum separated by commas.
    pub(crate) url: String,
    pub(crate) topology: Topology,
    pub(crate) lease: Duration,
    pub(crate) polling: Polling,
}

/// A lock under test.
pub(crate) trait System: Clone + Send + Sync + Sized + 'static {
    /// Connects.
    fn connect(setup: &Setup) -> impl Future<Output = Self> + Send;

    /// Runs `body` under the lock of this name and gives the lock back; waits as long as it takes.
    fn locked<B: Body>(
        &self,
        mode: Mode,
        key: &str,
        body: B,
    ) -> impl Future<Output = B::Output> + Send;
}

/// What runs under a lock.
pub(crate) trait Body: Future<Output: Send + 'static> + Send + 'static {}

impl<F: Future<Output: Send + 'static> + Send + 'static> Body for F {}

/// The systems by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two round trips that do nothing.
    Empty,
    /// Two round trips with the smallest scripts that lock: the floor.
    Raw,
    /// The same, with scripts that keep a holder and a token.
    RawToken,
    Dlock,
    /// dlock's lock for those who share it with programs in other languages.
    DlockMutex,
    Rslock,
    RedisLock,
    Rlock,
    RdsLock,
    Distkit,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Empty,
        Self::Raw,
        Self::RawToken,
        Self::Dlock,
        Self::DlockMutex,
        Self::Rslock,
        Self::RedisLock,
        Self::Rlock,
        Self::RdsLock,
        Self::Distkit,
    ];

    /// The systems that can wait for a lock, unlike the floor.
    pub(crate) const LOCKS: [Self; 7] = [
        Self::Dlock,
        Self::DlockMutex,
        Self::Rslock,
        Self::RedisLock,
        Self::Rlock,
        Self::RdsLock,
        Self::Distkit,
    ];

    /// The systems that are measured.
    pub(crate) const OURS: [Self; 2] = [Self::Dlock, Self::DlockMutex];

    /// The systems that have a read/write lock.
    pub(crate) const READ_WRITE: [Self; 4] =
        [Self::Dlock, Self::Rlock, Self::RdsLock, Self::Distkit];

    /// The systems that poll without a queue, so that the client that releases is the first to ask again. (`distkit`
    /// polls too, but its writers queue.)
    pub(crate) const BARGING: [Self; 4] =
        [Self::Rslock, Self::RedisLock, Self::Rlock, Self::RdsLock];

    /// The systems that take a lock on most of several servers.
    pub(crate) const QUORUM: [Self; 3] = [Self::Dlock, Self::DlockMutex, Self::Rslock];

    /// The systems that work on a Redis Cluster.
    pub(crate) const CLUSTER: [Self; 6] = [
        Self::Empty,
        Self::Raw,
        Self::RawToken,
        Self::Dlock,
        Self::DlockMutex,
        Self::Rslock,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Raw => "raw",
            Self::RawToken => "raw-token",
            Self::Dlock => "dlock",
            Self::DlockMutex => "dlock-mutex",
            Self::Rslock => "rslock",
            Self::RedisLock => "redis-lock",
            Self::Rlock => "rlock",
            Self::RdsLock => "rds_lock",
            Self::Distkit => "distkit",
        }
    }

    /// The name of a lock of this system in a workload. Systems keep different things under a lock's name, and a workload
    /// leaves some of them behind: each of both has names of its own.
    pub(crate) fn key(self, workload: &str, which: impl fmt::Display) -> String {
        format!("bench:{workload}:{self}:{which}")
    }

    /// Whether its clients send `SET` themselves, outside of scripts. (dlock's do so at first, and the scripts of its mutex
    /// do, too: what it sends is less than what is counted.)
    pub(crate) fn sends_set(self) -> bool {
        matches!(self, Self::DlockMutex | Self::Rslock | Self::RedisLock)
    }
}

impl Topology {
    const ALL: [Self; 3] = [Self::Standalone, Self::Cluster, Self::Quorum];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Standalone => "standalone",
            Self::Cluster => "cluster",
            Self::Quorum => "quorum",
        }
    }
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|of| of.name() == text);
        found.ok_or_else(|| format!("no topology is called `{text}`"))
    }
}

impl Setup {
    /// The URL of each node.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = String> {
        let nodes = self.url.split(',');
        nodes.map(|node| format!("redis://{}", node.trim_start_matches("redis://")))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("no system is called `{text}`"))
    }
}

/// Runs `body` between the grant of a guard and its release. Guards that release by reference need a `mut` at the end.
macro_rules! run_under {
    ($grant:expr, $body:expr $(, $mutable:tt)?) => {{
        let $($mutable)? guard = $grant.await.expect("the lock is granted");
        let output = $body.await;
        guard.release().await.expect("the lock was held");
        output
    }};
}
use run_under;

/// Runs a generic function with the system's type: `with_system!(kind, S => run::<S>(…).await)`.
macro_rules! with_system {
    ($kind:expr, $S:ident => $body:expr) => {
        $crate::system::with_system! { $kind, $S => $body;
            Empty Raw RawToken Dlock DlockMutex Rslock RedisLock Rlock RdsLock Distkit
        }
    };
    ($kind:expr, $S:ident => $body:expr; $($system:ident)+) => {
        match $kind {
            $($crate::system::Kind::$system => {
                type $S = $crate::system::$system;
                $body
            })+
        }
    };
}
pub(crate) use with_system;
