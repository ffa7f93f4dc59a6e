//! What this process has used.

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of all threads of this process so far, in seconds.
pub(crate) fn client_cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^52")]
    let (seconds, nanos) = (time.tv_sec as f64, time.tv_nsec as f64);
    seconds + nanos / 1e9
}

/// The memory of this process that is in RAM, without pages of files: those of the program depend on what else the
/// benchmark can do.
pub(crate) fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let mut fields = statm.split(' ').skip(1);
    let mut pages = || -> Option<usize> { fields.next()?.parse().ok() };
    let [resident, of_files] = [pages(), pages()].map(|pages| pages.expect("a number"));
    (resident - of_files) * rustix::param::page_size()
}
