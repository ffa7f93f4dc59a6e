//! Where locks live. `backend.rs` is what `client`, `lock` and `hold` call: it carries an operation of `protocol` to the
//! `memory` of this process or to `redis`, which know nothing of one another. `answer.rs` and `wakeups.rs` are what both
//! give back.

mod answer;
mod backend;
mod endpoint;
mod memory;
mod quorum;
mod redis;
mod wakeups;

pub use answer::Answer;
pub(crate) use answer::{Patience, Timeouts};
pub(crate) use backend::{Listening, NodeId, Store};
pub use endpoint::Endpoint;
pub use memory::{MemoryStore, Post, ServerClock};
pub(crate) use quorum::{QuorumStore, Site};
pub(crate) use redis::Link;
pub use redis::{
    Counter, Keys, Listening as RedisListening, NodeId as RedisNodeId, Password, Pem, RedisOptions,
    RedisStats, RedisStore, Script, ScriptLoad, Trust, decode, encode, encode_brief, encode_plain,
    source as script_source,
};
pub use wakeups::{Listener, Origin, Wakeups};
