//! What tasks share: mutexes that a panic does not poison, as each of ours guards what is whole between two statements,
//! and atomics.
//!
//! In this crate's unit tests both are `shuttle`'s, so that models can try every order of events. They work inside a model
//! only: other unit tests must not touch what is made of them.

#[cfg(test)]
pub(crate) mod modelled;

#[cfg(not(test))]
pub(crate) use std::sync::atomic;

#[cfg(not(test))]
pub(crate) use parking_lot::{Mutex, MutexGuard};

#[cfg(test)]
pub(crate) use self::modelled::{Mutex, MutexGuard, atomic};
