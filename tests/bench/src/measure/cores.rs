//! The processors that each process runs on.

use std::fs;

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

/// Keeps the servers and this process on different processors while it lives. Where the scheduler puts two
/// processes that talk in turns is otherwise luck, and doubles or halves the time that a round trip takes.
#[derive(Debug)]
#[must_use = "dropping it lets everybody run everywhere again"]
pub(crate) struct KeptApart {
    processes: Vec<u32>,
    everywhere: CpuSet,
}

impl KeptApart {
    /// Does nothing where there is only one processor.
    pub(crate) fn new(servers: impl IntoIterator<Item = u32>) -> Self {
        let everywhere = sched_getaffinity(None).expect("Linux tells");
        let cores: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|core| everywhere.is_set(*core))
            .collect();
        let mut processes = vec![std::process::id()];
        processes.extend(servers);
        if let [first, .., last] = cores[..] {
            for (index, process) in processes.iter().enumerate() {
                let mut only = CpuSet::new();
                only.set(if index == 0 { last } else { first });
                keep_on(*process, &only);
            }
        }
        Self {
            processes,
            everywhere,
        }
    }
}

impl Drop for KeptApart {
    fn drop(&mut self) {
        for process in &self.processes {
            keep_on(*process, &self.everywhere);
        }
    }
}

/// Keeps all threads of a process on these processors.
fn keep_on(process: u32, cores: &CpuSet) {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    for thread in threads {
        let name = thread.expect("Linux tells").file_name();
        let id = name.to_str().and_then(|name| name.parse().ok());
        let id = id.and_then(Pid::from_raw).expect("a thread's number");
        // A thread may have ended since.
        let _ = sched_setaffinity(Some(id), cores);
    }
}
