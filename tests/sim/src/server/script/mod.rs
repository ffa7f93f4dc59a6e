//! Scripts, which run in a real Lua 5.1: one for each thread, used for all servers and all fleets. `command` brings them
//! here; what they call goes back there.

mod api;
mod call;
mod convert;
mod env;
mod host;
mod numeral;
mod run;
mod source;
mod trouble;

pub(super) use self::host::compile;
pub(super) use self::run::run;
pub(super) use self::source::{Script, sha_of};
