//! Acquiring, holding and releasing.

mod acquire;
mod attempt;
mod evict;
mod gate;
mod hold;
mod holding;
mod lease;
mod read_guard;
mod remote;
mod rw_lock;
mod settings;
mod shared_hold;
mod wait;
mod waiting;
mod write_guard;

pub(crate) use gate::Gates;
pub(crate) use hold::Hold;
pub(crate) use lease::margin;
pub use read_guard::ReadGuard;
pub use rw_lock::RwLock;
pub(crate) use settings::Settings;
pub use write_guard::WriteGuard;
