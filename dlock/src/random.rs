//! Where randomness comes from: nothing else calls a generator, so that a test can replace it here.

pub(crate) use fastrand::{f64, shuffle, u64};
