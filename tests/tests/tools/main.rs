//! The harness, and what the project promises about its own files.

mod harness;
mod house;
mod language;
mod map;
mod proxy;
