//! Clocks, counters and statistics.

mod cores;
mod cpu;
mod samples;
mod timer;

pub(crate) use self::{
    cores::KeptApart,
    cpu::{client_cpu, resident_bytes},
    samples::{Samples, count},
    timer::Timer,
};
