//! Where locks live.

mod answer;
mod wakeups;

pub use answer::Answer;
pub use wakeups::{Listener, Wakeups};
mod stub;
pub(crate) use stub::*;
