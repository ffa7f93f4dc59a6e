//! Unit tests of annotated functions: without Redis, side by side, and with a look at what they locked.
//!
//! A [`Scope`] lends its client to the annotated functions that run inside it and writes down which
//! locks they took. Two tests with a scope each do not notice one another, whatever keys they use and
//! whatever client is installed.

mod in_scope;
mod scope;
mod taken;

pub use self::in_scope::{InScope, carry};
pub use self::scope::Scope;
pub(crate) use self::scope::{client_in_scope, note};
pub use self::taken::Taken;
