//! What was measured, and whether it is good enough.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;

use super::options::Options;

/// The measurements of a run.
#[derive(Debug)]
pub(crate) struct Findings<'o> {
    options: &'o Options,
    checks: usize,
    failed: Vec<String>,
}

impl<'o> Findings<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Self {
            options,
            checks: 0,
            failed: Vec::new(),
        }
    }

    /// Prints a line of the report, and remembers it if it is not as it should be.
    pub(crate) fn check(&mut self, good: bool, line: impl Display) {
        self.checks += 1;
        println!("{} {line}", if good { "  ok  " } else { " FAIL " });
        if !good {
            self.failed.push(line.to_string());
        }
    }

    /// A time that has a limit on a quiet machine; `None` if what was waited for did not come.
    pub(crate) fn within(&mut self, what: &str, took: Option<Duration>, quiet: Duration) {
        let limit = self.options.time(quiet);
        let said = took.map_or_else(|| "not at all".to_owned(), |took| format!("{took:.1?}"));
        let good = took.is_some_and(|took| took <= limit);
        self.check(good, format_args!("{what}: {said} (limit {limit:.1?})"));
    }

    /// The exit code, and what was wrong.
    pub(crate) fn report(&self) -> ExitCode {
        if self.failed.is_empty() && self.checks > 0 {
            println!("all {} checks hold", self.checks);
            return ExitCode::SUCCESS;
        }
        println!("{} of {} checks failed:", self.failed.len(), self.checks);
        for line in &self.failed {
            println!("  {line}");
        }
        ExitCode::FAILURE
    }
}
