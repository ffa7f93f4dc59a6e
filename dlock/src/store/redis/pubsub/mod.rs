//! Hearing wake-ups. Only the store listens here; it finds nodes through `topology`, and connects to them by itself.
//!
//! A client has one channel; in a cluster one for each lock, because a sharded channel has to be in the lock's slot. A script
//! publishes the id of the hold that should look again. A channel is subscribed at the node that serves the lock's slot, on
//! a connection of its own ([`mod@worker`]), very many in one pipeline, and stays subscribed for a while after its last
//! listener. Messages get lost when a connection or a slot does: then the channel is subscribed again, and its listeners are
//! told to look, a few at a time ([`mod@hearing`]).

mod channels;
mod hearing;
mod listening;
mod subscriber;
mod worker;

pub(super) use hearing::PubSub;
pub use listening::Listening;
