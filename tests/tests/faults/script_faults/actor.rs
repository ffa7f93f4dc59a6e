//! The clients, and their operations.

use std::sync::Arc;
use std::time::Duration;

use dlock::__internals::{Extent, HoldId, Nonce, Op, PlaceTerms, ServerToken, Stray};
use dlock::LockMode;

/// How many acquisitions there are.
pub(crate) const ACTORS: usize = 8;
const LEASE: Duration = Duration::from_secs(5);
const PLACE: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(1);

/// An operation of one of the acquisitions.
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
    Yield(usize),
    /// Leaves the hold to itself, for a second.
    End(usize),
    EndStray(usize),
    /// Takes over a token that another server has named: a little larger, or far ahead of the clock.
    Raise(usize),
    RaiseFar(usize),
    Inspect,
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
            | Self::Yield(actor)
            | Self::End(actor)
            | Self::EndStray(actor)
            | Self::Raise(actor)
            | Self::RaiseFar(actor) => Some(actor),
            Self::Inspect => None,
        }
    }

    /// The request; `seen` is the token that the actor has been told last.
    pub(crate) fn op(self, seen: u64) -> Op {
        let Some(actor) = self.actor() else {
            return Op::Inspect;
        };
        let hold = id(actor);
        let place = PlaceTerms {
            lease: PLACE,
            subscribed: actor % 4 != 3,
            nonce: nonce(actor),
        };
        let acquire = |place| Op::Acquire {
            hold: id(actor),
            mode: mode(actor),
            // Leases differ, so that they end one after the other.
            lease: LEASE.saturating_sub(Duration::from_millis(100 * actor as u64)),
            owner: owner(actor),
            place,
        };
        let release = |stray| Op::Release {
            hold: id(actor),
            lease: LEASE,
            stray,
        };
        let end = |stray| Op::Renew {
            hold: id(actor),
            lease: REST,
            extent: Extent::Exactly { stray },
        };
        let raise = |ahead| Op::Raise {
            hold: id(actor),
            token: ServerToken::new(seen + ahead),
        };
        match self {
            Self::Wait(_) => acquire(Some(place)),
            Self::Try(_) => acquire(None),
            Self::Renew(_) => Op::Renew {
                hold,
                lease: LEASE,
                extent: Extent::Longer,
            },
            Self::Release(_) => release(Stray::None),
            Self::ReleaseStray(_) => release(Stray::Possible),
            Self::Abandon(_) => Op::Abandon {
                hold,
                stray: Stray::None,
            },
            Self::AbandonStray(_) => Op::Abandon {
                hold,
                stray: Stray::Possible,
            },
            Self::Yield(_) => Op::Yield {
                hold,
                lease: LEASE,
                seen: ServerToken::new(seen),
                stray: Stray::None,
            },
            Self::End(_) => end(Stray::None),
            Self::EndStray(_) => end(Stray::Possible),
            Self::Raise(_) => raise(5_000),
            Self::RaiseFar(_) => raise(3_000_000),
            Self::Inspect => Op::Inspect,
        }
    }
}

pub(crate) fn id(actor: usize) -> HoldId {
    HoldId::parse(&format!("client-{}/00/{actor}", actor % 3)).expect("an id")
}

/// Writers and readers in turn.
pub(crate) fn mode(actor: usize) -> LockMode {
    if actor.is_multiple_of(2) {
        LockMode::Write
    } else {
        LockMode::Read
    }
}

/// Two have an owner in common, another one is its own.
fn owner(actor: usize) -> Option<Arc<str>> {
    match actor {
        4 | 5 => Some("a".into()),
        7 => Some("client-0/00/0".into()),
        _ => None,
    }
}

/// What proves that a message is for this one.
pub(crate) fn nonce(actor: usize) -> Nonce {
    Nonce::new(actor as u64 + 1)
}
