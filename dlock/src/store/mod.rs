//! Where locks live.

mod answer;
mod backend;
mod memory;
mod redis;
mod timeouts;
mod wakeups;

pub use answer::Answer;
pub(crate) use backend::{Listening, NodeId, Store};
pub use memory::{MemoryStore, Post, ServerClock};
pub use redis::{
    Counter, Endpoint, Listening as RedisListening, NodeId as RedisNodeId, Password, RedisOptions,
    RedisStats, RedisStore, ScriptLoad, source as script_source,
};
pub(crate) use timeouts::Timeouts;
pub use wakeups::{Listener, Origin, Wakeups};
