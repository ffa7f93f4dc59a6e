//! dlock under deterministic simulation: the real client and the real scripts on virtual time, from one seed.

pub mod server;
