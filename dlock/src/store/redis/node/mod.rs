//! One server: the connection to it that comes back, what its clock shows, and what it means when it does not answer.
//! `server.rs` is what the rooms above hold on to (`topology`, `call`, `pubsub`); `dial.rs` also opens the connections
//! of `pubsub`. This is the only room that drives the redis crate's connections; it asks for a survey through `env`, and
//! knows nothing of slots.

mod admission;
mod budget;
mod connection;
mod dial;
mod gather;
mod pace;
mod round_trips;
mod server;
mod server_time;
mod stream;
mod trouble;
mod under_way;

pub(super) use budget::{Permit, Unsent};
pub(super) use connection::{Connection, NoAnswer, Session};
pub(super) use dial::{DialFailure, connect};
pub(super) use server::Node;
pub use server::NodeId;
pub(super) use trouble::{Trouble, fatal};
