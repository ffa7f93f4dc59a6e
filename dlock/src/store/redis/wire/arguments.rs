//! Arguments of scripts that all kinds of locks write alike.

use std::io::Write;
use std::time::Duration;

use redis::Cmd;

use super::argument::{Argument, argument};
use crate::protocol::{Extent, Op, PlaceTerms, Stray, whole_millis};

/// How long a key outlives the latest deadline in it, rounded up.
pub(super) const GRACE_MILLIS: u64 = 1001;

/// How many holds, and how many waiters, an inspection lists.
const LISTED: u64 = 100;

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
        let argument = argument(cmd).sixteen(self.valid_until);
        let publishing = &self.publishing;
        let Some(place) = place else {
            // A client that enters beside waiting readers may have to notify them.
            let nothing_asked = argument.text(" 0 0 - ");
            publishing.write(nothing_asked);
            return;
        };
        let (lease, nonce) = (micros(place.lease), place.nonce);
        // A client that publishes in another mode than this one subscribes must not take it for subscribed.
        let ear = match publishing.0 {
            "S" | "s" | "R" | "r" if place.subscribed => 1,
            "P" | "p" | "N" | "n" if place.subscribed => 3,
            _ => 0,
        };
        let argument = argument.text(" ").number(lease).text(" ").number(ear);
        let argument = argument.text(" ").display(nonce).text(" ");
        publishing.write(argument);
    }

    /// Appends what a renewal says of an end that it was given.
    pub(super) fn extent(&self, cmd: &mut Cmd, extent: Extent) {
        if let Extent::Exactly { stray } = extent {
            argument(cmd).number(self.buried_until(stray));
        }
    }

    /// Appends the arguments of the operations that have the same on all kinds of locks.
    pub(super) fn other(&self, cmd: &mut Cmd, op: &Op) {
        match op {
            Op::Abandon { hold, stray } => {
                argument(cmd).hold(hold);
                argument(cmd).number(self.buried_until(*stray));
                self.publishing.append(cmd);
            }
            Op::Yield {
                hold,
                lease,
                seen,
                stray,
            } => {
                argument(cmd).hold(hold);
                argument(cmd).number(micros(whole_millis(*lease)));
                argument(cmd).display(seen);
                argument(cmd).number(self.buried_until(*stray));
                self.publishing.append(cmd);
            }
            Op::Raise { hold, token } => {
                argument(cmd).hold(hold);
                argument(cmd).display(token);
            }
            Op::Inspect => _ = argument(cmd).number(LISTED),
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

/// How to publish, and where the key's prefix ends, behind which `~c` makes it a channel.
pub(super) struct Publishing<'p>(pub(super) &'p str, pub(super) usize);

impl Publishing<'_> {
    /// Writes both behind what else the argument has.
    fn write(&self, argument: Argument<impl Write>) {
        if !self.0.is_empty() {
            let prefix = u64::try_from(self.1).unwrap_or(u64::MAX);
            argument.text(self.0).number(prefix);
        }
    }

    /// Appends them as an argument of their own.
    pub(super) fn append(&self, cmd: &mut Cmd) {
        self.write(argument(cmd));
    }
}
