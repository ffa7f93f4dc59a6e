//! Which server serves which slots: the map from slots to nodes, how it is found and kept up to date. `call` and `pubsub` ask
//! `servers.rs`; no request waits for a survey. Other rooms request a survey through `env`; a callback reports changes of the map.

mod refresher;
mod servers;
mod survey;

pub(super) use servers::Servers;
