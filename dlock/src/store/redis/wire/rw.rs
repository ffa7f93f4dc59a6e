//! Read/write locks as commands.

use redis::{Cmd, RedisWrite};

use super::argument::argument;
use super::arguments::{GRACE_MILLIS, Terms, millis};
use super::dialect::Dialect;
use super::script::Script;
use crate::key::LockKey;
use crate::mode::LockMode;
use crate::protocol::{Op, Stray, forget_after};

/// A read/write lock: a hash, and scripts that know its line.
pub(super) struct Rw;

impl Dialect for Rw {
    fn script(&self, op: &Op) -> Script {
        match op {
            Op::Acquire { .. } => Script::Acquire,
            Op::Release { .. } => Script::Release,
            Op::Renew { .. } => Script::Renew,
            Op::Abandon { .. } => Script::Abandon,
            Op::Yield { .. } => Script::Yield,
            Op::Raise { .. } => Script::Raise,
            Op::Inspect => Script::Inspect,
        }
    }

    fn brief(&self, _: &Op) -> Option<Script> {
        None
    }

    fn has_plain(&self, op: &Op) -> bool {
        matches!(op, Op::Release { lease, stray: Stray::None, .. } if forget_after(*lease).is_none())
    }

    fn plain(&self, key: &LockKey, op: &Op) -> Option<Cmd> {
        let (true, Op::Release { hold, .. }) = (self.has_plain(op), op) else {
            return None;
        };
        let mut cmd = Cmd::with_capacity(3, key.as_str().len() + 80);
        cmd.write_arg(b"HDEL");
        cmd.write_arg(key.as_str().as_bytes());
        argument(&mut cmd).text("=").hold(hold);
        Some(cmd)
    }

    fn arguments(&self, cmd: &mut Cmd, op: &Op, terms: &Terms<'_>) {
        match op {
            Op::Acquire {
                hold,
                mode,
                lease,
                owner,
                place,
            } => {
                let lease = millis(*lease);
                let kept = lease + GRACE_MILLIS;
                argument(cmd).text("=").hold(hold);
                // One argument less for the most frequent request.
                let brief = *mode == LockMode::Write && owner.is_none();
                if brief {
                    argument(cmd).number(kept);
                } else {
                    let (mode, owner) = (letter(*mode), owner.as_deref().unwrap_or(""));
                    let argument = argument(cmd).text(mode).text(" ");
                    argument.number(lease).text("000 0 ").text(owner);
                }
                terms.place(cmd, *place);
                if !brief {
                    argument(cmd).number(kept);
                }
            }
            Op::Release { hold, lease, stray } => {
                argument(cmd).hold(hold);
                match forget_after(*lease) {
                    Some(forget) => _ = argument(cmd).number(millis(forget) + GRACE_MILLIS),
                    None => cmd.write_arg(b""),
                }
                argument(cmd).number(terms.buried_until(*stray));
                terms.publishing.append(cmd);
            }
            Op::Renew {
                hold,
                lease,
                extent,
            } => {
                argument(cmd).hold(hold);
                argument(cmd).number(millis(*lease) + GRACE_MILLIS);
                terms.extent(cmd, *extent);
            }
            op => terms.other(cmd, op),
        }
    }
}

fn letter(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Read => "r",
        LockMode::Write => "w",
    }
}
