//! Faults at work: begun in the course of the load, ended after their time.

mod at_once;
mod begin;
mod deaths;
mod operator;
mod processes;
mod servers;
mod slots;

pub(crate) use self::begin::{look, settle};
