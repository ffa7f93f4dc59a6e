//! Where randomness comes from: nothing else calls a generator, so that a test can replace it here. Std's maps are in
//! an order that is random, too.

use std::collections;

#[cfg(not(dlock_sim))]
pub(crate) use fastrand::{f64, shuffle, u64};
#[cfg(not(dlock_sim))]
pub(crate) use std::hash::RandomState as Hashing;

#[cfg(dlock_sim)]
pub(crate) use self::simulated::{Hashing, f64, shuffle, u64};

pub(crate) type HashMap<K, V> = collections::HashMap<K, V, Hashing>;
pub(crate) type HashSet<T> = collections::HashSet<T, Hashing>;

/// Random numbers and hashers that are equal in each run of a simulated seed.
#[cfg(dlock_sim)]
mod simulated {
    use std::hash::{BuildHasherDefault, DefaultHasher};
    use std::ops::RangeBounds;

    /// Seeded in the same way in each process.
    pub(crate) type Hashing = BuildHasherDefault<DefaultHasher>;

    fn generator() -> fastrand::Rng {
        fastrand::Rng::with_seed(crate::sim::random())
    }

    pub(crate) fn f64() -> f64 {
        generator().f64()
    }

    pub(crate) fn u64(range: impl RangeBounds<u64>) -> u64 {
        generator().u64(range)
    }

    pub(crate) fn shuffle<T>(slice: &mut [T]) {
        generator().shuffle(slice);
    }
}
