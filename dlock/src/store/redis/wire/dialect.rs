//! What differs between the kinds of locks when operations are put into commands: implemented once for each kind, in `rw.rs` and
//! `mutex.rs`.

use redis::Cmd;

use super::arguments::Terms;
use super::mutex::Mutex;
use super::rw::Rw;
use super::script::Script;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::protocol::Op;

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
