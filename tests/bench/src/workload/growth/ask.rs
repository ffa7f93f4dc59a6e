//! The requests to the server: operations and commands, made here and nowhere else in this workload.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use dlock::{
    __internals::{
        Extent, HoldId, Keys, Message, Nonce, Op, PlaceTerms, ServerToken, Stray, encode,
    },
    LockKey, LockMode,
};
use redis::{Cmd, cmd};

/// Holds and places last longer than it takes to measure; and just not so long that a release has to note when to
/// forget the lock.
pub(super) const LASTING: Duration = Duration::from_mins(1);

/// Until when requests are valid, in the server's microseconds: they do not come late here.
const ALWAYS: u64 = 9_000_000_000_000_000;

/// A hold, and the token it was granted with.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: HoldId,
    pub(super) token: ServerToken,
}

/// An id that nothing else has. All are of one client.
pub(super) fn id() -> HoldId {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    HoldId::parse(&format!("growth/0123456789abcdef/{n:x}")).expect("an id")
}

/// Takes the lock or nothing.
pub(super) fn attempt(hold: HoldId, mode: LockMode, lease: Duration) -> Op {
    acquire(hold, mode, lease, None)
}

/// Takes the lock or a place in its line; asked again, keeps the place. A grant lasts.
pub(super) fn queue(hold: HoldId, mode: LockMode, place: Duration) -> Op {
    let place = PlaceTerms {
        lease: place,
        subscribed: true,
        nonce: Nonce::new(0x0123_4567_89ab_cdef),
    };
    acquire(hold, mode, LASTING, Some(place))
}

fn acquire(hold: HoldId, mode: LockMode, lease: Duration, place: Option<PlaceTerms>) -> Op {
    Op::Acquire {
        hold,
        mode,
        lease,
        owner: None,
        place,
    }
}

pub(super) fn release(hold: HoldId) -> Op {
    Op::Release {
        hold,
        lease: LASTING,
        stray: Stray::None,
        spent: None,
    }
}

pub(super) fn renew(hold: HoldId) -> Op {
    Op::Renew {
        hold,
        lease: LASTING,
        extent: Extent::Longer,
    }
}

pub(super) fn abandon(hold: HoldId) -> Op {
    Op::Abandon {
        hold,
        stray: Stray::None,
    }
}

pub(super) fn yield_to_line(held: &Held) -> Op {
    Op::Yield {
        hold: held.id.clone(),
        lease: LASTING,
        seen: held.token,
        stray: Stray::None,
        spent: None,
    }
}

/// The command that runs an operation's script.
pub(super) fn evalsha(digest: &str, key: &LockKey, op: &Op) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(digest);
    encode(&mut command, key, Keys::All, op, "P", ALWAYS);
    command
}

/// What was handed over by a message, if it is not a call to look.
pub(super) fn granted(message: &Message) -> Option<Held> {
    match message {
        Message::Look(_) => None,
        Message::Granted {
            hold: id, token, ..
        } => Some(Held {
            id: id.clone(),
            token: *token,
        }),
    }
}
