//! Acquiring, holding and releasing.

mod acquire;
mod claim;
mod commons;
mod evict;
mod gate;
mod read_guard;
mod remote;
mod rw_lock;
mod settings;
mod wait;
mod waiting;
mod write_guard;

pub(crate) use commons::Commons;
pub use read_guard::ReadGuard;
pub use rw_lock::RwLock;
pub(crate) use settings::Settings;
pub use write_guard::WriteGuard;
