//! What everything of one store shares: settings, background tasks, counters, and two signals. Every room above may
//! read it and count, spawn or signal with it. Nothing in here knows its callers, or talks to a server.

#[cfg(feature = "tls")]
mod certificates;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod env;
mod home;
mod options;

pub(crate) use env::Env;
pub use env::{Counter, RedisStats};
pub use options::{Password, Pem, RedisOptions, Trust};
