//! The client: where lock handles come from.

mod builder;
mod config;
mod handle;
mod home;
mod host;
mod inner;
mod installed;
mod list;
mod load;

pub use builder::ClientBuilder;
pub use handle::Client;
pub use installed::{install, installed};
