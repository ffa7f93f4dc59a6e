//! One server: the connection to it that comes back, what its clock shows, and what it means when it does not answer.
//! `server.rs` is what the rooms above hold on to (`topology`, `call`, `pubsub`); `login.rs` also opens the connections
//! of `pubsub`. This is the only room that drives the redis crate's connections; it asks for a survey through `env`, and
//! knows nothing of slots.

mod admission;
mod budget;
mod connection;
mod denial;
mod dial;
mod gather;
mod login;
mod offer;
mod pace;
mod parts;
mod refused;
mod round_trips;
mod server;
mod server_time;
mod stream;
mod taught;
#[cfg(feature = "tls")]
mod tls;
mod trouble;
mod under_way;

pub(super) use budget::{Permit, Unsent};
pub(super) use connection::{Connection, NoAnswer, Session};
pub(super) use denial::fatal;
pub(super) use dial::DialFailure;
pub(super) use login::connect;
pub(super) use server::Node;
pub use server::NodeId;
pub(super) use trouble::Trouble;
