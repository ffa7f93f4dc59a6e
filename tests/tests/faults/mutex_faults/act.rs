//! The clients of a mutex, and their operations.

use std::time::Duration;

use dlock::__internals::{Extent, HoldId, Nonce, Op, PlaceTerms, Stray};
use dlock::LockKind;

/// How many acquisitions there are. Even ones need tokens.
pub(crate) const ACTORS: usize = 6;
/// Until when an acquire is valid after it was sent.
pub(crate) const VALID: u64 = 2_000_000;
/// The longest lease, in milliseconds.
pub(crate) const LEASE: u64 = 5_000;
const PLACE: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(1);

/// An operation of one of the acquisitions, or what another program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Wait(usize),
    Try(usize),
    Renew(usize),
    Release(usize),
    /// The acquire may still be on its way.
    ReleaseStray(usize),
    Abandon(usize),
    AbandonStray(usize),
    /// Leaves the hold to itself, for a second.
    End(usize),
    EndStray(usize),
    Inspect,
    /// Another program takes the mutex, or frees it.
    Take,
    Free,
}

impl Act {
    /// Whose it is.
    pub(crate) fn actor(self) -> Option<usize> {
        match self {
            Self::Wait(actor)
            | Self::Try(actor)
            | Self::Renew(actor)
            | Self::Release(actor)
            | Self::ReleaseStray(actor)
            | Self::Abandon(actor)
            | Self::AbandonStray(actor)
            | Self::End(actor)
            | Self::EndStray(actor) => Some(actor),
            Self::Inspect | Self::Take | Self::Free => None,
        }
    }

    /// Whether it says that copies of the acquire may come yet.
    pub(crate) fn is_stray(self) -> bool {
        matches!(
            self,
            Self::ReleaseStray(_) | Self::AbandonStray(_) | Self::EndStray(_)
        )
    }

    /// The request; none for what other programs do.
    pub(crate) fn op(self) -> Option<Op> {
        let Some(actor) = self.actor() else {
            return (self == Self::Inspect).then_some(Op::Inspect);
        };
        let hold = id(actor);
        let place = PlaceTerms {
            lease: PLACE,
            subscribed: actor % 4 != 3,
            nonce: nonce(actor),
        };
        let acquire = |place| Op::Acquire {
            hold: id(actor),
            mode: dlock::LockMode::Write,
            lease: lease(actor),
            owner: None,
            place,
        };
        let release = |stray| Op::Release {
            hold: id(actor),
            lease: lease(actor),
            stray,
        };
        let abandon = |stray| Op::Abandon {
            hold: id(actor),
            stray,
        };
        let end = |stray| Op::Renew {
            hold: id(actor),
            lease: REST,
            extent: Extent::Exactly { stray },
        };
        Some(match self {
            Self::Wait(_) => acquire(Some(place)),
            Self::Try(_) => acquire(None),
            Self::Renew(_) => Op::Renew {
                hold,
                lease: lease(actor),
                extent: Extent::Longer,
            },
            Self::Release(_) => release(Stray::None),
            Self::ReleaseStray(_) => release(Stray::Possible),
            Self::Abandon(_) => abandon(Stray::None),
            Self::AbandonStray(_) => abandon(Stray::Possible),
            Self::End(_) => end(Stray::None),
            Self::EndStray(_) => end(Stray::Possible),
            Self::Inspect | Self::Take | Self::Free => return None,
        })
    }
}

pub(crate) fn id(actor: usize) -> HoldId {
    HoldId::parse(&format!("client-{}/0000000000000000/{actor}", actor % 3)).expect("an id")
}

pub(crate) fn kind(actor: usize) -> LockKind {
    if actor.is_multiple_of(2) {
        LockKind::FencedMutex
    } else {
        LockKind::Mutex
    }
}

/// Leases differ, so that they end one after the other.
fn lease(actor: usize) -> Duration {
    Duration::from_millis(LEASE - 100 * actor as u64)
}

/// What proves that a message is for this one.
pub(crate) fn nonce(actor: usize) -> Nonce {
    Nonce::new(actor as u64 + 1)
}
