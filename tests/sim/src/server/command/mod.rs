//! Commands: which there are, what a server checks before it runs one, and what they do. `node` sends here what clients
//! ask, `script` what scripts call.

mod check;
mod cluster;
mod connection;
mod expiry;
mod hash;
mod keys;
mod number;
mod options;
mod pubsub;
mod scan;
mod scripting;
mod server;
mod table;
mod text;
mod unknown;

pub(super) use self::check::keys;
pub(super) use self::table::{Spec, find};
use super::fleet::ConnId;

/// The caller.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub(super) struct Caller {
    /// The connection; also of a script.
    pub(super) conn: ConnId,
    pub(super) asking: bool,
    pub(super) readonly: bool,
    pub(super) resp3: bool,
    /// Whether it is a script, which has no connection of its own.
    pub(super) in_script: bool,
}

/// A command that has passed the checks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) caller: Caller,
    pub(super) spec: &'static Spec,
    pub(super) args: &'c [&'c [u8]],
}

pub(super) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
pub(super) const NOT_A_NUMBER: &str = "ERR value is not an integer or out of range";
pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const FULL: &str = "OOM command not allowed when used memory > 'maxmemory'.";
pub(super) const READ_ONLY: &str = "READONLY You can't write against a read only replica.";
pub(super) const NO_REPLICAS: &str = "NOREPLICAS Not enough good replicas to write.";
