//! dlock under deterministic simulation: the real client and the real scripts on virtual time, from one seed.
//!
//! Without `--cfg dlock_sim`, which `scripts/sim` sets, there are only the servers.

#[cfg(dlock_sim)]
mod clients;
#[cfg(dlock_sim)]
mod engine;
#[cfg(dlock_sim)]
mod exhaust;
#[cfg(dlock_sim)]
mod faults;
#[cfg(dlock_sim)]
mod history;
#[cfg(dlock_sim)]
mod judges;
#[cfg(dlock_sim)]
mod plan;
#[cfg(dlock_sim)]
mod run;
pub mod server;
#[cfg(dlock_sim)]
mod shrink;
#[cfg(dlock_sim)]
mod weights;

#[cfg(dlock_sim)]
pub use self::{
    exhaust::{Report, cases, exhaust, run_case, shrink_case},
    plan::{LockKind, Profile},
    run::{Outcome, Seed, run_seed},
    shrink::{Shrunk, shrink},
};
