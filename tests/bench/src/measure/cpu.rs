//! What this process has used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of all threads of this process so far.
pub(crate) fn client_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = u32::try_from(time.tv_nsec).expect("less than a second");
    Duration::new(time.tv_sec.unsigned_abs(), nanos)
}

/// The memory of this process that is in RAM.
pub(crate) fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages = statm.split(' ').nth(1).expect("the second field");
    let pages: u64 = pages.parse().expect("a number");
    pages * u64::try_from(rustix::param::page_size()).expect("a page is small")
}
