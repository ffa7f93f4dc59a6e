//! Acquiring, holding and releasing.

mod acquire;
mod claim;
mod commons;
mod evict;
mod gate;
mod guards;
mod remote;
mod rw_lock;
mod settings;
mod wait;
mod waiting;

pub(crate) use commons::Commons;
pub(crate) use gate::Share;
pub use guards::{ReadGuard, WriteGuard};
pub use rw_lock::RwLock;
pub(crate) use settings::Settings;
pub(crate) use wait::Wait;
