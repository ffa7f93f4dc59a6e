//! A lock's name and what becomes of it on the server. A leaf: any room may call.

mod lock_key;
mod map;

pub(crate) use lock_key::check_prefix;
pub use lock_key::{LockKey, MAX_NAME_BYTES};
pub(crate) use map::KeyMap;
