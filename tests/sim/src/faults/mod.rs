//! Faults at work: begun in the course of the load, ended after their time.

mod begin;
mod processes;
mod servers;

pub(crate) use self::begin::{look, settle};
