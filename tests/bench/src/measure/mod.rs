//! Clocks, counters and statistics.

mod cpu;
mod samples;
mod timer;

pub(crate) use self::{
    cpu::{client_cpu, resident_bytes},
    samples::{Samples, count},
    timer::Timer,
};
