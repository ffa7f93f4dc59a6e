//! Arguments of scripts that all kinds of locks write alike.

use std::fmt;
use std::time::Duration;

use redis::{Cmd, RedisWrite};

use crate::protocol::{Extent, Op, PlaceTerms, Stray, whole_millis};

/// How long a key outlives the latest deadline in it, rounded up.
pub(super) const GRACE_MILLIS: u64 = 1001;

/// How many holds, and how many waiters, an inspection lists.
const LISTED: u32 = 100;

/// How a request wakes waiters, and until when it, or a duplicate of the acquire that it ends, may take effect.
pub(super) struct Terms<'p> {
    pub(super) publishing: Publishing<'p>,
    pub(super) valid_until: u64,
}

impl Terms<'_> {
    /// Until when a duplicate of the acquire has to find a tombstone; 0 if there is no duplicate.
    pub(super) fn buried_until(&self, stray: Stray) -> u64 {
        match stray {
            Stray::None => 0,
            Stray::Possible => self.valid_until,
        }
    }

    /// Appends for how long an acquire is valid, and what is asked for if the lock is not free.
    pub(super) fn place(&self, cmd: &mut Cmd, place: Option<PlaceTerms>) {
        let (valid_until, publishing) = (Sixteen(self.valid_until), &self.publishing);
        let Some(place) = place else {
            // A client that enters beside waiting readers may have to notify them.
            cmd.write_arg_fmt(format_args!("{valid_until} 0 0 - {publishing}"));
            return;
        };
        let (lease, nonce) = (micros(place.lease), place.nonce);
        // A client that publishes in another mode than this one subscribes must not take it for subscribed.
        let ear = match publishing.0 {
            "S" | "s" | "R" | "r" if place.subscribed => 1,
            "P" | "p" | "N" | "n" if place.subscribed => 3,
            _ => 0,
        };
        cmd.write_arg_fmt(format_args!(
            "{valid_until} {lease} {ear} {nonce} {publishing}"
        ));
    }

    /// Appends what a renewal says of an end that it was given.
    pub(super) fn extent(&self, cmd: &mut Cmd, extent: Extent) {
        if let Extent::Exactly { stray } = extent {
            cmd.write_arg_fmt(self.buried_until(stray));
        }
    }

    /// Appends the arguments of the operations that have the same on all kinds of locks.
    pub(super) fn other(&self, cmd: &mut Cmd, op: &Op) {
        match op {
            Op::Abandon { hold, stray } => {
                cmd.write_arg_fmt(hold);
                cmd.write_arg_fmt(self.buried_until(*stray));
                cmd.write_arg_fmt(&self.publishing);
            }
            Op::Yield {
                hold,
                lease,
                seen,
                stray,
            } => {
                cmd.write_arg_fmt(hold);
                cmd.write_arg_fmt(micros(whole_millis(*lease)));
                cmd.write_arg_fmt(seen);
                cmd.write_arg_fmt(self.buried_until(*stray));
                cmd.write_arg_fmt(&self.publishing);
            }
            Op::Raise { hold, token } => {
                cmd.write_arg_fmt(hold);
                cmd.write_arg_fmt(token);
            }
            Op::Inspect => cmd.write_arg_fmt(LISTED),
            Op::Acquire { .. } | Op::Release { .. } | Op::Renew { .. } => {
                unreachable!("each kind has its own")
            }
        }
    }
}

/// A lease in whole milliseconds. (Durations' own 128-bit numbers take several times as long to write.)
pub(super) fn millis(lease: Duration) -> u64 {
    u64::try_from(whole_millis(lease).as_millis()).unwrap_or(u64::MAX)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// A number in sixteen digits, so that texts compare as the numbers do. The server's time has sixteen digits until the
/// year 2286.
struct Sixteen(u64);

impl fmt::Display for Sixteen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000_000_000_000_000 {
            write!(f, "{:016}", self.0)
        } else {
            self.0.fmt(f)
        }
    }
}

/// How to publish, and where the key's prefix ends, behind which `~c` makes it a channel.
pub(super) struct Publishing<'p>(pub(super) &'p str, pub(super) usize);

impl fmt::Display for Publishing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self("", _) => Ok(()),
            Self(publish, prefix) => write!(f, "{publish}{prefix}"),
        }
    }
}
