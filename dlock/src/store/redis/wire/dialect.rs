//! What differs between the kinds of locks when operations are put into commands: a dialect for read/write locks, and one for
//! mutexes.

use redis::{Cmd, RedisWrite};

use super::arguments::{GRACE_MILLIS, Terms, append_spent, argument, millis};
use super::script::Script;
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::protocol::{Op, Stray, forget_after};

pub(super) trait Dialect: Sync {
    /// The script that carries an operation out in all cases.
    ///
    /// # Panics
    /// If no client asks for the operation on this kind of lock.
    fn script(&self, op: &Op) -> Script;

    /// A smaller script that may be tried first, which does the same to a lock's only hold if no client waits and there is
    /// nothing else to record; 0 says that it has done nothing.
    fn brief(&self, op: &Op) -> Option<Script>;

    /// Whether a single command of Redis does the same as a brief script.
    fn has_plain(&self, op: &Op) -> bool;

    /// The single command, if there is one; it is a fraction of the work of a script. The answer 0, or none, says that the command
    /// has found something else, which is for the script to judge.
    fn plain(&self, key: &LockKey, op: &Op) -> Option<Cmd>;

    /// Appends the arguments of the script.
    fn arguments(&self, cmd: &mut Cmd, op: &Op, terms: &Terms<'_>);
}

/// The dialect of a kind of lock.
pub(super) fn dialect(kind: LockKind) -> &'static dyn Dialect {
    match kind {
        LockKind::Rw => &Rw,
        LockKind::Mutex => &Mutex { has_tokens: false },
        LockKind::FencedMutex => &Mutex { has_tokens: true },
    }
}

/// A read/write lock: a hash, and scripts that know its line.
struct Rw;

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
        matches!(op, Op::Release { lease, stray: Stray::None, spent: None, .. } if forget_after(*lease).is_none())
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
            Op::Release {
                hold,
                lease,
                stray,
                spent,
            } => {
                argument(cmd).hold(hold);
                match forget_after(*lease) {
                    Some(forget) => _ = argument(cmd).number(millis(forget) + GRACE_MILLIS),
                    None => cmd.write_arg(b""),
                }
                argument(cmd).number(terms.buried_until(*stray));
                terms.publishing.append(cmd);
                append_spent(cmd, *spent);
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

/// A mutex: a string that other programs know, and a hash beside it for waiters and the last token.
struct Mutex {
    has_tokens: bool,
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
