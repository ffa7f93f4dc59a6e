//! Simulated processes at work: each has a client, and tasks that take locks.

mod act;
mod foreign;
mod hold;
mod process;
mod sim;

pub(crate) use self::process::start;
pub(crate) use self::sim::Sim;
