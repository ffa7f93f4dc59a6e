//! The arguments of commands: each is written part by part, and those that the scripts of all kinds of locks have are written
//! alike.

use std::fmt;
use std::io::Write;
use std::time::Duration;

use redis::{Cmd, RedisWrite};

use crate::protocol::{Extent, HoldId, Op, PlaceTerms, Stray, whole_millis};
use crate::token::ServerToken;

/// Starts the next argument, which ends when the result is dropped.
pub(super) fn argument(cmd: &mut Cmd) -> Argument<impl Write + '_> {
    Argument(cmd.writer_for_next_arg())
}

/// An argument that is being written. `format_args!` writes the same with more instructions: the two commands of an acquire and a
/// release of a read/write lock take 3,150 to write with this, and took 4,190 (counted with callgrind).
pub(super) struct Argument<W>(W);

impl<W: Write> Argument<W> {
    pub(super) fn text(mut self, text: &str) -> Self {
        self.bytes(text.as_bytes());
        self
    }

    /// In decimal digits.
    pub(super) fn number(mut self, number: u64) -> Self {
        self.bytes(itoa::Buffer::new().format(number).as_bytes());
        self
    }

    /// In sixteen decimal digits, so that texts compare as the numbers do. The server's time has sixteen digits until the
    /// year 2286.
    pub(super) fn sixteen(mut self, number: u64) -> Self {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number);
        self.bytes(&[b'0'; 16][digits.len().min(16)..]);
        self.bytes(digits.as_bytes());
        self
    }

    /// As [`HoldId`] displays itself.
    pub(super) fn hold(mut self, hold: &HoldId) -> Self {
        self.bytes(hold.client().as_str().as_bytes());
        self.bytes(b"/");
        self.hexadecimal(hold.number());
        if hold.lingers() {
            let mut mark = [0; 4];
            self.bytes(HoldId::LINGERS.encode_utf8(&mut mark).as_bytes());
        }
        self
    }

    fn hexadecimal(&mut self, number: u64) {
        let mut digits = [0; 16];
        let (mut first, mut rest) = (digits.len(), number);
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[usize::try_from(rest % 16).unwrap_or(0)];
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        self.bytes(&digits[first..]);
    }

    pub(super) fn display(mut self, part: impl fmt::Display) -> Self {
        // A command is in memory, where writing does not fail.
        let _ = write!(self.0, "{part}");
        self
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // A command is in memory, where writing does not fail.
        let _ = self.0.write_all(bytes);
    }
}

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
                spent,
            } => {
                argument(cmd).hold(hold);
                argument(cmd).number(micros(whole_millis(*lease)));
                argument(cmd).display(seen);
                argument(cmd).number(self.buried_until(*stray));
                self.publishing.append(cmd);
                append_spent(cmd, *spent);
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

/// Appends which tokens were used without the server.
pub(super) fn append_spent(cmd: &mut Cmd, spent: Option<ServerToken>) {
    if let Some(token) = spent {
        argument(cmd).display(token);
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use redis::{Arg, Cmd};

    use super::{Argument, argument};
    use crate::protocol::{ClientId, HoldId};

    #[test]
    fn numbers_and_holds_are_written_as_they_display() {
        let written = |write: &dyn Fn(Argument<&mut Vec<u8>>)| {
            let mut bytes = Vec::new();
            write(Argument(&mut bytes));
            String::from_utf8(bytes).expect("text")
        };
        let client = ClientId::new("c");
        for number in [0, 1, 9, 10, 16, 4_096, 10_u64.pow(15), u64::MAX] {
            let hold = HoldId::next(&client, &AtomicU64::new(number));
            assert_eq!(written(&|to| _ = to.number(number)), number.to_string());
            let sixteen = format!("{number:016}");
            assert_eq!(written(&|to| _ = to.sixteen(number)), sixteen);
            assert_eq!(written(&|to| _ = to.hold(&hold)), hold.to_string());
            let hold = hold.lingering();
            assert_eq!(written(&|to| _ = to.hold(&hold)), hold.to_string());
        }
    }

    #[test]
    fn parts_make_one_argument() {
        let mut cmd = Cmd::new();
        argument(&mut cmd).text("=").number(1).text("b");
        argument(&mut cmd).text("");
        let arguments: Vec<_> = cmd.args_iter().collect();
        assert!(matches!(
            arguments[..],
            [Arg::Simple(b"=1b"), Arg::Simple(b"")]
        ));
    }
}
