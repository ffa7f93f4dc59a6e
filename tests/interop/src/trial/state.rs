//! What changes during a run.

use std::process::ExitCode;

use crate::{
    clock::Moment,
    court::{Court, Process},
    figures::{Count, Figures},
    incident::Docket,
    options::Options,
    side::Side,
};

/// All that changes.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) court: Court,
    pub(crate) docket: Docket,
    pub(crate) figures: Figures,
    /// By slot, who waits since when.
    pub(crate) waiting: Vec<Option<(Process, Moment)>>,
    processes: Process,
}

impl State {
    pub(crate) fn new(options: &Options, slots: usize) -> Self {
        Self {
            court: Court::new(options.lease),
            docket: Docket::new(&options.sides, options.seed),
            figures: Figures::new(&options.sides),
            waiting: vec![None; slots],
            processes: 0,
        }
    }

    /// A number for a process that has just reported its side and version.
    pub(crate) fn admit(&mut self, side: Side, version: &str) -> Process {
        self.figures.version(side, version);
        self.processes += 1;
        self.processes
    }

    /// Counts the fault that was due, which is over.
    pub(crate) fn done(&mut self, side: Side, count: Count) {
        self.figures.count(side, count);
        self.docket.finish();
    }

    /// Prints it all, and says whether it is as it must be.
    pub(crate) fn tell(&self, options: &Options) -> ExitCode {
        println!("\n{}", self.figures.to_markdown());
        println!("{}", self.figures.of_all());
        let violations = self.court.violations();
        println!("violations: {}", violations.len());
        for violation in violations.iter().take(10) {
            println!("  {violation}");
        }
        if options.control {
            return ExitCode::from(u8::from(violations.is_empty()));
        }
        let lacks = self.figures.lacks(options.calm, options.servers_fail());
        for lack in &lacks {
            println!("not enough: {lack}");
        }
        ExitCode::from(u8::from(!violations.is_empty() || !lacks.is_empty()))
    }
}
