//! A lock on a server whose time a test moves.

use std::time::Duration;

use dlock::__internals::{Keys, Op, Reply, ServerClock as _, lock_key};
use dlock::LockKey;

use super::{Outcome, Pieces, Scene, Stage};
use crate::{RedisServer, TestClock, unique_prefix};

/// For how long a request is valid.
const VALID: Duration = Duration::from_secs(2);

/// A lock, the scripts that change it, and the time. Nothing is left of the lock once this is dropped.
#[derive(Debug)]
pub struct StagedLock {
    stage: Stage,
    key: LockKey,
    clock: TestClock,
}

impl StagedLock {
    /// A read/write lock.
    #[must_use]
    pub fn new(server: &RedisServer) -> Self {
        Self::of(
            server,
            lock_key(&unique_prefix(), "lock").expect("a valid name"),
        )
    }

    /// The lock with this key.
    #[must_use]
    pub fn of(server: &RedisServer, key: LockKey) -> Self {
        Self {
            stage: Stage::on(server),
            key,
            clock: TestClock::default(),
        }
    }

    /// The scripts.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The lock's key.
    #[must_use]
    pub fn key(&self) -> &LockKey {
        &self.key
    }

    /// Carries out a request, a microsecond after the one before.
    #[must_use]
    pub fn play(&self, op: &Op) -> Outcome {
        self.play_with(op, |_| {})
    }

    /// Carries out a request after `change` has adjusted its scene.
    #[must_use]
    pub fn play_with<'a>(&'a self, op: &'a Op, change: impl FnOnce(&mut Scene<'a>)) -> Outcome {
        self.pass(Duration::from_micros(1));
        let mut scene = Scene {
            key: &self.key,
            op,
            valid_until: self.after(VALID),
            time: self.clock.micros(),
            publish: "P",
            deaf: &[],
            keys: Keys::All,
            plain: false,
            pieces: Pieces::Whole,
            fault: None,
        };
        change(&mut scene);
        self.stage.play(&scene)
    }

    /// Carries out a request that succeeds.
    pub fn done(&self, op: &Op) -> Outcome {
        let outcome = self.play(op);
        let done = matches!(
            outcome.answer,
            Ok(Reply::Granted(_) | Reply::Done | Reply::Queued { .. })
        );
        assert!(done, "{op:?}: {:?}", outcome.answer);
        assert!(outcome.kept.is_some(), "{op:?}: a key without an expiry");
        outcome
    }

    /// Lets time pass.
    pub fn pass(&self, span: Duration) {
        self.clock.set(self.after(span));
    }

    /// The server's time, in microseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock.micros()
    }

    /// The server's time after this span.
    #[must_use]
    pub fn after(&self, span: Duration) -> u64 {
        self.now() + u64::try_from(span.as_micros()).expect("a short time")
    }
}

impl Drop for StagedLock {
    fn drop(&mut self) {
        self.stage.clear(&self.key);
    }
}
