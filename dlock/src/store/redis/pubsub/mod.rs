//! Hearing wake-ups. Only the store listens here; it finds nodes through `topology`, and connects to them by itself.
//!
//! Each lock has a channel per client; a script publishes the id of the hold that should look again. A
//! channel is subscribed at the node that serves the lock's slot, on a connection of its own
//! ([`mod@worker`]), and stays subscribed for a while after its last listener. Messages get lost when a connection or
//! a slot does: then the channel is subscribed again, and its listeners are told to look.

mod channel;
mod channels;
mod chores;
mod hearing;
mod jobs;
mod keeper;
mod listening;
mod subscriber;
mod worker;

pub(super) use hearing::PubSub;
pub use listening::Listening;
