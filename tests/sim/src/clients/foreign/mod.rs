//! Processes that take mutexes without dlock, as programs in other languages do.

mod dialect;
mod redis;
mod reply;
mod work;

pub(super) use self::work::start;
