//! The clients, and their operations.

use std::time::Duration;

use dlock::__internals::{Extent, HoldId, Nonce, Op, PlaceTerms, ServerToken, Stray};

use crate::script_faults::kind::Kind;

/// Until when an acquire is valid after it was sent.
pub(crate) const VALID: u64 = 2_000_000;
/// The longest lease, in milliseconds.
pub(crate) const LEASE: u64 = 5_000;
const PLACE: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(1);
/// How far the tokens of a hold that lingers go beyond what the server named, in microseconds.
const SPENT: u64 = 900;

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
    Yield(usize),
    /// Leaves the hold to itself, for a second.
    End(usize),
    EndStray(usize),
    /// Takes over a token that another server has named: a little larger, or far ahead of the clock.
    Raise(usize),
    RaiseFar(usize),
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
            | Self::Yield(actor)
            | Self::End(actor)
            | Self::EndStray(actor)
            | Self::Raise(actor)
            | Self::RaiseFar(actor) => Some(actor),
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

    /// The request, and none for what other programs do; `seen` is the token that the actor has been told last.
    pub(crate) fn op<K: Kind>(self, seen: u64) -> Option<Op> {
        let Some(actor) = self.actor() else {
            return (self == Self::Inspect).then_some(Op::Inspect);
        };
        let (hold, lease) = (id::<K>(actor), lease(actor));
        // A hold that lingers was used with more tokens than the server named.
        let spent = K::lingers(actor).then(|| ServerToken::new(seen + SPENT));
        let place = PlaceTerms {
            lease: PLACE,
            subscribed: actor % 4 != 3,
            nonce: nonce(actor),
        };
        let acquire = |place| Op::Acquire {
            hold: id::<K>(actor),
            mode: K::mode(actor),
            lease,
            owner: K::owner(actor),
            place,
        };
        let token = |ahead| ServerToken::new(seen + ahead);
        let stray = if self.is_stray() {
            Stray::Possible
        } else {
            Stray::None
        };
        Some(match self {
            Self::Wait(_) => acquire(Some(place)),
            Self::Try(_) => acquire(None),
            Self::Renew(_) => Op::Renew {
                hold,
                // Longer than most leases were.
                lease: Duration::from_millis(LEASE),
                extent: Extent::Longer,
            },
            Self::Release(_) | Self::ReleaseStray(_) => Op::Release {
                hold,
                lease,
                stray,
                spent,
            },
            Self::Abandon(_) | Self::AbandonStray(_) => Op::Abandon { hold, stray },
            Self::Yield(_) => Op::Yield {
                hold,
                lease,
                seen: token(0),
                stray,
                spent,
            },
            Self::End(_) | Self::EndStray(_) => Op::Renew {
                hold,
                lease: REST,
                extent: Extent::Exactly { stray },
            },
            Self::Raise(_) => Op::Raise {
                hold,
                token: token(5_000),
            },
            Self::RaiseFar(_) => Op::Raise {
                hold,
                token: token(3_000_000),
            },
            Self::Inspect | Self::Take | Self::Free => return None,
        })
    }
}

/// Three clients have several acquisitions each.
pub(crate) fn id<K: Kind>(actor: usize) -> HoldId {
    let id = HoldId::parse(&format!("{}/{actor}", client(actor))).expect("an id");
    if K::lingers(actor) {
        id.lingering()
    } else {
        id
    }
}

/// How the scripts name the client of an acquisition.
pub(crate) fn client(actor: usize) -> String {
    format!("client-{}/0000000000000000", actor % 3)
}

/// Leases differ, so that they end one after the other.
fn lease(actor: usize) -> Duration {
    Duration::from_millis(LEASE - 100 * actor as u64)
}

/// What proves that a message is for this one.
pub(crate) fn nonce(actor: usize) -> Nonce {
    Nonce::new(actor as u64 + 1)
}
