//! What tasks share: mutexes that a panic does not poison, as each of ours guards what is whole between two statements.

pub(crate) use parking_lot::{Mutex, MutexGuard};
