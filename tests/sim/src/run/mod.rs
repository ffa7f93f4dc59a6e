//! One run of a plan, from the first connection until nothing is left.

mod end;
mod one;

pub(crate) use self::one::run_plan;
pub use self::one::{Outcome, Seed, run_seed};
