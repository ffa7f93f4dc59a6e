//! What clients send.

use std::sync::Arc;

use dlock::__internals::{Extent, HoldId, Keys, Nonce, Op, PlaceTerms, ServerToken, Stray as Flag};
use dlock::LockKind;
use dlock_tests::Pieces;

use crate::spec::plan::{Act, Actor, Stray};

/// An operation with what goes along with it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) kind: LockKind,
    pub(crate) op: Op,
    pub(crate) valid_until: u64,
    /// Which keys the script is given.
    pub(crate) keys: Keys,
}

/// What a client knows of one of its acquisitions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge {
    /// The token that the server has named last.
    token: u64,
    /// Until when the last of its acquires is valid.
    valid_until: u64,
}

impl Knowledge {
    pub(crate) fn hears_of(&mut self, token: ServerToken) {
        self.token = token.as_u64();
    }

    /// The request of an act at this time of the server.
    pub(crate) fn request(&mut self, number: usize, actor: &Actor, act: &Act, now: u64) -> Request {
        let hold = id(number, actor);
        let mut valid_until = self.valid_until;
        let mut flag = |stray: &Stray| match *stray {
            Stray::None => Flag::None,
            Stray::Possible => Flag::Possible,
            Stray::Odd(ahead) => {
                valid_until = now.saturating_add_signed(ahead);
                Flag::Possible
            }
        };
        let spent = |ahead: Option<i64>| {
            let ahead = ahead.filter(|_| actor.lingers)?;
            Some(ServerToken::new(now.saturating_add_signed(ahead)))
        };
        let op = match act {
            Act::Acquire {
                lease,
                place,
                valid,
            } => {
                valid_until = now.saturating_add_signed(*valid);
                self.valid_until = self.valid_until.max(valid_until);
                Op::Acquire {
                    hold,
                    mode: actor.mode,
                    lease: actor.longest.min(*lease),
                    owner: actor.owner.map(Arc::from),
                    place: place.as_ref().map(|place| PlaceTerms {
                        lease: place.lease,
                        subscribed: place.subscribed,
                        nonce: Nonce::new(place.nonce),
                    }),
                }
            }
            Act::Release {
                stray,
                spent: ahead,
            } => Op::Release {
                hold,
                lease: actor.longest,
                stray: flag(stray),
                spent: spent(*ahead),
            },
            Act::Renew { lease, end } => Op::Renew {
                hold,
                lease: actor.longest.min(*lease),
                extent: match end {
                    None => Extent::Longer,
                    Some(stray) => Extent::Exactly { stray: flag(stray) },
                },
            },
            Act::Abandon { stray } => Op::Abandon {
                hold,
                stray: flag(stray),
            },
            Act::Yield {
                lease,
                stale,
                stray,
                spent: ahead,
            } => Op::Yield {
                hold,
                lease: actor.longest.min(*lease),
                seen: ServerToken::new(self.token.saturating_sub(*stale)),
                stray: flag(stray),
                spent: spent(*ahead),
            },
            Act::Raise { ahead } => Op::Raise {
                hold,
                token: ServerToken::new(now.saturating_add_signed(*ahead)),
            },
        };
        Request {
            kind: actor.kind,
            op,
            valid_until,
            keys: Keys::All,
        }
    }
}

/// The id of an acquisition.
pub(crate) fn id(number: usize, actor: &Actor) -> HoldId {
    let text = format!("{}/{number}", client(actor.client));
    let id = HoldId::parse(&text).expect("an id");
    if actor.lingers { id.lingering() } else { id }
}

/// The id of a client.
pub(crate) fn client(number: usize) -> String {
    format!("client-{number}/0000000000000000")
}

/// The acquisition behind an id.
pub(crate) fn number(id: &str) -> usize {
    let number = id.rsplit('/').next().expect("an id has parts");
    let plain = number.strip_suffix(HoldId::LINGERS);
    plain
        .unwrap_or(number)
        .parse()
        .expect("ids here end with the acquisition's number")
}

/// How many readers the specification tells at once.
pub(crate) fn piece(pieces: Pieces) -> u64 {
    match pieces {
        Pieces::Whole => 128,
        Pieces::OfTwo => 2,
    }
}
