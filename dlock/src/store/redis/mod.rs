//! Locks on Redis.

mod script;

pub use script::source;
