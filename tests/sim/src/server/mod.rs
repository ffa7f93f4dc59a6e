//! Simulated Redis and Valkey servers: single ones and clusters, without threads, clocks or randomness of their own.
//!
//! A [`Fleet`] is driven from outside. Bytes of clients are fed in with the virtual time; what servers write comes out
//! by [`Fleet::take_output`]. What servers tell each other (replication, the cluster's bus) comes out as [`Link`]s by
//! [`Fleet::take_links`], to be delivered in any order, late, twice or never. Equal calls have equal results.
//!
//! The simulated world calls this; so does the comparison with real servers.

mod admin;
mod cluster;
mod command;
mod config;
mod data;
mod fleet;
mod judge;
mod link;
mod node;
mod resp;
mod script;

pub use self::admin::{FailKind, Migration, Promotion, WakeOrder};
pub use self::config::{Flavour, FleetConfig};
pub use self::fleet::{ConnId, Fleet, NodeId, Output};
pub use self::judge::{Role, Subscription};
pub use self::link::{Link, LinkItem, LinkKind};
