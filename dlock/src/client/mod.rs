//! The client: where lock handles come from. It builds and owns what all its locks have in common, and knows the runtime on
//! which that lives. Called by `attribute`, `blocking` and `testing`.

mod builder;
mod environment;
mod handle;
mod home;

pub use builder::ClientBuilder;
pub use handle::{Client, install, installed};
