//! What a seed tries in addition to what every seed does.

use super::{LockKind, Plan};
use crate::engine::{Nanos, Random, SECOND};

/// Which trouble a seed is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Anything, with servers that take no time.
    #[default]
    Any,
    /// Hundreds of waiters, and servers that this load can saturate.
    Storm,
    /// Contenders that stay while one server of a quorum is slow, refuses, hangs or comes back late.
    Members,
    /// Processes that keep read/write locks for their next tasks.
    Linger,
    /// Leases of over a minute beside short ones, time limits, clocks that step by more than a lease, silent servers.
    Long,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Any,
        Self::Storm,
        Self::Members,
        Self::Linger,
        Self::Long,
    ];

    /// As it is given on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Storm => "storm",
            Self::Members => "members",
            Self::Linger => "linger",
            Self::Long => "long",
        }
    }

    /// The profile with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// How many runs may be tried to make a plan of it smaller: those of many processes take long.
    pub(crate) fn runs_to_shrink(self) -> u32 {
        match self {
            Self::Any | Self::Linger | Self::Long => 600,
            Self::Storm | Self::Members => 40,
        }
    }

    /// Whether there are seeds of it about such locks.
    #[must_use]
    pub fn fits(self, locks: LockKind) -> bool {
        match self {
            Self::Any | Self::Long => true,
            Self::Storm => locks != LockKind::Quorum,
            Self::Members => locks == LockKind::Quorum,
            Self::Linger => locks == LockKind::Rw,
        }
    }
}

/// What judges ask of a seed because of its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demands {
    pub(crate) profile: Profile,
    /// When tasks begin nothing new.
    pub(crate) ends: Nanos,
    /// How long after a fault all is as before.
    pub(crate) recovery: Nanos,
    /// How many of a thousand grants of before there are then, and while a server of a quorum is away.
    pub(crate) grants: [u32; 2],
    /// For how many thousandths of the time servers are busy when nothing is wrong, if that is known.
    pub(crate) at_rest: Option<u32>,
    /// Whether no fault is an excuse for a lease that is lost.
    pub(crate) keeps_leases: bool,
    /// Whether those who waited before a server stood still enter in their order.
    pub(crate) keeps_order: bool,
    /// Whether a dead holder's lock is free in time although clocks step.
    pub(crate) frees_in_time: bool,
    /// For how long a free lock of a quorum may stay free.
    pub(crate) gap: Option<Nanos>,
}

/// After so long no new operation begins.
const LONG: Nanos = 300 * SECOND;

impl Default for Demands {
    fn default() -> Self {
        Self {
            profile: Profile::Any,
            ends: LONG,
            recovery: 3 * SECOND,
            grants: [0; 2],
            at_rest: None,
            keeps_leases: false,
            keeps_order: false,
            frees_in_time: false,
            gap: None,
        }
    }
}

impl Plan {
    /// Makes what was drawn for any seed one of a profile.
    pub(super) fn take_profile(&mut self, profile: Profile) {
        self.setup.demands.profile = profile;
        let random = &mut Random::of(self.seed, profile.name(), 0);
        match profile {
            Profile::Any => {}
            Profile::Storm => self.storm(random),
            Profile::Members => self.stay(random),
            Profile::Linger => self.let_linger(),
            Profile::Long => self.lengthen(random),
        }
    }
}
