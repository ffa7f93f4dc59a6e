//! What this process has used.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of all threads of this process so far, in seconds.
pub(crate) fn client_cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^52")]
    let (seconds, nanos) = (time.tv_sec as f64, time.tv_nsec as f64);
    seconds + nanos / 1e9
}

/// The memory of this process that is in RAM.
pub(crate) fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages = statm.split(' ').nth(1).expect("the second field");
    let pages: u64 = pages.parse().expect("a number");
    pages * u64::try_from(rustix::param::page_size()).expect("a page is small")
}
