//! Redis: one server or a cluster, by routing of our own.
//!
//! [`RedisStore::call`] sends an operation to the node that serves the lock's slot, over the one
//! connection that all tasks share, and sees to redirects, lost connections and failovers until the caller's
//! deadline. Every operation may be sent twice, which makes that simple.
//!
//! The rooms, each of which imports only from those below it:
//!
//! ```text
//! store           puts them together
//! call   pubsub   getting operations carried out; hearing wake-ups (neither knows the other)
//! topology        which node serves which slot
//! node            one server, and the connection to it
//! env  (url)      what all of one store share: settings, tasks, counters, signals
//! wire            commands and answers; lua/ has the scripts
//! address leaves
//! ```
//!
//! Only `wire` and `node` know the redis crate: the one its commands and values, the other its connections.

mod address;
mod call;
mod env;
mod node;
mod pubsub;
mod store;
mod topology;
mod url;
mod wire;

pub(crate) use call::Link;
pub use env::{Counter, Password, Pem, RedisOptions, RedisStats, Trust};
pub use node::NodeId;
pub use pubsub::Listening;
pub use store::RedisStore;
pub(super) use url::read_url;
pub use wire::{Keys, Script, ScriptLoad, decode, encode, encode_brief, encode_plain, source};
