//! The attribute, the builder and errors, as the user of the crate meets them.

mod accepted;
mod attribute;
mod errors;
