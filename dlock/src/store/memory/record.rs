//! The record under one key.

use super::lock::{Lock, Mutex};
use super::post::Post;
use crate::kind::LockKind;
use crate::protocol::{Op, Reply};

/// A lock of either kind.
#[derive(Debug)]
pub(super) enum Record {
    /// A read/write lock.
    Rw(Lock),
    /// A mutex.
    Mutex(Box<Mutex>),
}

impl Record {
    pub(super) fn new(kind: LockKind) -> Self {
        match kind {
            LockKind::Rw => Self::Rw(Lock::default()),
            LockKind::Mutex | LockKind::FencedMutex => Self::Mutex(Box::default()),
        }
    }

    /// Carries out one operation at a server time; what is over by so many µs is forgotten.
    pub(super) fn apply(
        &mut self,
        kind: LockKind,
        op: &Op,
        valid_until: u64,
        (time, slack): (u64, u64),
        post: &mut Post<'_>,
    ) -> Reply {
        match self {
            Self::Rw(lock) => {
                if lock.is_forgotten(time, slack) {
                    *lock = Lock::default();
                }
                lock.apply(op, valid_until, time, post)
            }
            Self::Mutex(mutex) => {
                mutex.apply(op, kind.has_tokens(), valid_until, time, slack, post)
            }
        }
    }

    /// The hash: all of a read/write lock, or what is kept beside a mutex.
    pub(super) fn lock(&self) -> &Lock {
        match self {
            Self::Rw(lock) => lock,
            Self::Mutex(mutex) => mutex.beside(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Rw(lock) => lock.is_idle(),
            Self::Mutex(mutex) => mutex.is_idle(),
        }
    }

    pub(super) fn is_forgotten(&self, time: u64, slack: u64) -> bool {
        match self {
            Self::Rw(lock) => lock.is_forgotten(time, slack),
            Self::Mutex(mutex) => mutex.is_forgotten(time, slack),
        }
    }
}
