//! Where locks live.

mod answer;
mod memory;
mod redis;
mod wakeups;

pub use answer::Answer;
pub use memory::{MemoryStore, ServerClock};
pub use redis::source as script_source;
pub use wakeups::{Listener, Wakeups};
mod stub;
pub(crate) use stub::*;
