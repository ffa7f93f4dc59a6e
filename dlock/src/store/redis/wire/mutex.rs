//! Mutexes as commands.

use redis::{Cmd, RedisWrite};

use super::argument::argument;
use super::arguments::{Terms, millis};
use super::dialect::Dialect;
use super::script::Script;
use crate::key::LockKey;
use crate::protocol::{Op, Stray};

/// A mutex: a string that other programs know, and a hash beside it for waiters and the last token.
pub(super) struct Mutex {
    pub(super) has_tokens: bool,
}

impl Dialect for Mutex {
    fn script(&self, op: &Op) -> Script {
        match op {
            Op::Acquire { .. } => Script::MutexAcquire,
            Op::Release { .. } => Script::MutexRelease,
            Op::Renew { .. } => Script::MutexRenew,
            Op::Abandon { .. } => Script::MutexAbandon,
            Op::Raise { .. } => Script::MutexRaise,
            Op::Yield { .. } => unreachable!("a mutex is released after a slice"),
            Op::Inspect => Script::MutexInspect,
        }
    }

    fn brief(&self, op: &Op) -> Option<Script> {
        let is_plain = matches!(
            op,
            Op::Release {
                stray: Stray::None,
                ..
            }
        );
        (is_plain && !self.has_tokens).then_some(Script::MutexUnlock)
    }

    fn has_plain(&self, op: &Op) -> bool {
        matches!(op, Op::Acquire { .. }) && !self.has_tokens
    }

    fn plain(&self, key: &LockKey, op: &Op) -> Option<Cmd> {
        let (true, Op::Acquire { hold, lease, .. }) = (self.has_plain(op), op) else {
            return None;
        };
        let mut cmd = Cmd::with_capacity(6, key.as_str().len() + 80);
        cmd.write_arg(b"SET");
        cmd.write_arg(key.as_str().as_bytes());
        argument(&mut cmd).hold(hold);
        cmd.write_arg(b"NX");
        cmd.write_arg(b"PX");
        argument(&mut cmd).number(millis(*lease));
        Some(cmd)
    }

    fn arguments(&self, cmd: &mut Cmd, op: &Op, terms: &Terms<'_>) {
        match op {
            Op::Acquire {
                hold, lease, place, ..
            } => {
                argument(cmd).hold(hold);
                argument(cmd).number(millis(*lease));
                terms.place(cmd, *place);
                argument(cmd).number(u64::from(self.has_tokens));
            }
            Op::Release { hold, stray, .. } => {
                // Each argument less is to be felt in what is nearly nothing but two commands.
                argument(cmd).hold(hold);
                terms.publishing.append(cmd);
                if *stray == Stray::Possible {
                    argument(cmd).number(terms.buried_until(*stray));
                }
            }
            Op::Renew {
                hold,
                lease,
                extent,
            } => {
                argument(cmd).hold(hold);
                argument(cmd).number(millis(*lease));
                argument(cmd).number(u64::from(self.has_tokens));
                terms.extent(cmd, *extent);
            }
            op => terms.other(cmd, op),
        }
    }
}
