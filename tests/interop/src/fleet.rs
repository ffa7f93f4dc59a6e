//! The processes of all sides.

use std::ffi::OsString;

use dlock_tests::Worker;
use parking_lot::Mutex;

use crate::{
    contender::Manner,
    options::Options,
    side::{Side, word},
};

/// A place for a process, how to start the process, and the process.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) side: Side,
    program: OsString,
    arguments: Vec<OsString>,
    pub(crate) worker: Mutex<Worker>,
}

/// Starts all processes; `judge` and `redis` are ports.
pub(crate) fn start(options: &Options, judge: u16, redis: &[u16], key: &str) -> Vec<Slot> {
    let redis: Vec<_> = redis.iter().map(u16::to_string).collect();
    let terms = [
        judge.to_string(),
        redis.join(","),
        key.to_owned(),
        options.lease.as_millis().to_string(),
    ];
    let slot = |(number, side): (usize, &Side)| {
        let manner = match side {
            side if options.careless() == Some(*side) => Manner::Careless,
            Side::Dlock if options.fenced => Manner::Fenced,
            _ => Manner::Careful,
        };
        let (program, first) = side.program(&options.python);
        let own = [number.to_string(), word(&manner)];
        let words = terms.iter().cloned().chain(own).map(OsString::from);
        let arguments: Vec<_> = [first].into_iter().chain(words).collect();
        Slot {
            side: *side,
            worker: Mutex::new(Worker::spawn(&program, &arguments)),
            program,
            arguments,
        }
    };
    let count = options.sides.len() * options.processes;
    let sides = options.sides.iter().cycle().take(count);
    sides.enumerate().map(slot).collect()
}

/// How many processes run; `Err` with the output of a process that failed.
pub(crate) fn running(fleet: &[Slot]) -> Result<usize, String> {
    let mut running = 0;
    for Slot { side, worker, .. } in fleet {
        let worker = worker.lock();
        match worker.ended() {
            None => running += 1,
            Some(status) if status.success() => {}
            Some(status) => return Err(format!("{side} ended, {status}: {}", worker.output())),
        }
    }
    Ok(running)
}

impl Slot {
    /// Kills the process (SIGKILL) and starts another in its place.
    pub(crate) fn replace(&self) {
        let mut worker = self.worker.lock();
        worker.kill();
        *worker = Worker::spawn(&self.program, &self.arguments);
    }
}
