//! The client: where lock handles come from.

mod builder;
mod config;
mod handle;
mod home;
mod host;
mod inner;
mod installed;
mod list;

pub use builder::ClientBuilder;
pub(crate) use config::{Config, check_lease};
pub use config::{DEFAULT_LEASE, MAX_LEASE, MIN_LEASE};
pub use handle::Client;
pub(crate) use inner::Inner;
pub use installed::{install, installed};
