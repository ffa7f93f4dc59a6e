//! `rediss://` against real servers, with certificates of the test's own.
#![cfg(feature = "tls")]

mod certificates;
mod hanging;
mod mutual;
mod platform;
mod settings;
mod site;
