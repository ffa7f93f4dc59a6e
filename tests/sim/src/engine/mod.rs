//! Virtual time, processes, tasks and the network: what the client runs on instead of a machine. Nothing here draws
//! workloads or judges; [`Engine`] is what the rooms above drive.

mod bytes;
mod clock;
mod core;
mod deliver;
mod desk;
mod disturb;
mod network;
mod process;
mod stream;
mod tasks;
mod timers;
mod turns;
mod world;

pub(crate) use self::core::{Engine, Watch};
pub(crate) use self::desk::Service;
pub(crate) use self::network::{Cut, HoldBack, Mend, Messages, Pace};
pub(crate) use self::process::{End, ProcId};
pub(crate) use dlock_load::{MS, Nanos, Random, SECOND};
