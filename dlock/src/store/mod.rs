//! Where locks live.

mod answer;
mod redis;
mod wakeups;

pub use answer::Answer;
pub use redis::{Counter, Endpoint, NodeId, Password, RedisOptions, RedisStats, RedisStore};
pub use wakeups::{Listener, Wakeups};
