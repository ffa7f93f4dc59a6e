//! Who serves what: the map from slots to nodes, how it is found and kept up to date. `servers.rs` is what `call` and
//! `pubsub` ask; nothing on their way waits for a survey. A survey is asked for through `env`; that the map has changed
//! is told by calling back.

mod refresher;
mod servers;
mod survey;

pub(super) use servers::Servers;
