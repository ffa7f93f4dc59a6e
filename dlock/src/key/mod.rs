//! A lock's name and what becomes of it on the server. A leaf: anybody may call.

mod lock_key;
mod map;
mod name;

pub use lock_key::LockKey;
pub(crate) use map::KeyMap;
pub use name::MAX_NAME_BYTES;
pub(crate) use name::check_prefix;
