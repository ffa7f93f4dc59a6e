//! Atomics and locks of `shuttle`, and how models are run.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

pub(crate) use shuttle::sync::MutexGuard;

/// How many orders of events a model tries: any, and those in which tasks seldom take turns, which are rare among any.
const ORDERS: usize = 1000;
/// How often tasks take turns in the latter.
const TURNS: usize = 3;

thread_local! {
    /// Whether what reads and writes in one go comes apart, to see that a model notices. All tasks of a model run on
    /// the thread of its test.
    static TORN: Cell<bool> = const { Cell::new(false) };
}

/// Tries many orders of what the tasks of `model` do. Panics if one of them does, or if all wait.
pub(crate) fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    let model = Arc::new(model);
    let same = Arc::clone(&model);
    Runner::new(RandomScheduler::new(ORDERS), config.clone()).run(move || same());
    Runner::new(PctScheduler::new(TURNS, ORDERS), config).run(move || model());
}

/// Makes sure that a model with a mistake in it fails.
pub(crate) fn fails(model: impl Fn() + Send + Sync + 'static) {
    assert!(
        catch_unwind(AssertUnwindSafe(|| check(model))).is_err(),
        "the mistake goes unnoticed"
    );
}

/// Makes sure that a model fails if atomics are none.
pub(crate) fn fails_torn(model: impl Fn() + Send + Sync + 'static) {
    TORN.set(true);
    fails(model);
    TORN.set(false);
}

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) mod atomic {
    use super::TORN;
    use shuttle::sync::atomic as whole;

    pub(crate) use shuttle::sync::atomic::AtomicBool;
    pub(crate) use std::sync::atomic::Ordering;

    #[derive(Debug, Default)]
    pub(crate) struct AtomicU8(whole::AtomicU8);

    impl AtomicU8 {
        pub(crate) fn new(value: u8) -> Self {
            Self(whole::AtomicU8::new(value))
        }

        pub(crate) fn store(&self, value: u8, order: Ordering) {
            self.0.store(value, order);
        }

        pub(crate) fn load(&self, order: Ordering) -> u8 {
            self.0.load(order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u8,
            new: u8,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u8, u8> {
            if !TORN.get() {
                return self.0.compare_exchange(current, new, success, failure);
            }
            let found = self.0.load(failure);
            if found != current {
                return Err(found);
            }
            self.0.store(new, Ordering::Release);
            Ok(found)
        }
    }

    #[derive(Debug)]
    pub(crate) struct AtomicU64(whole::AtomicU64);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(whole::AtomicU64::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            self.0.store(value, order);
        }

        pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn fetch_add(&self, by: u64, order: Ordering) -> u64 {
            if TORN.get() {
                return self.torn(|found| found + by);
            }
            self.0.fetch_add(by, order)
        }

        pub(crate) fn fetch_max(&self, other: u64, order: Ordering) -> u64 {
            if TORN.get() {
                return self.torn(|found| found.max(other));
            }
            self.0.fetch_max(other, order)
        }

        fn torn(&self, change: impl FnOnce(u64) -> u64) -> u64 {
            let found = self.0.load(Ordering::Acquire);
            self.0.store(change(found), Ordering::Release);
            found
        }
    }
}
