//! Whether all held.

use std::fmt::Display;
use std::process::ExitCode;

/// Collects checks and tells about them.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    failed: u32,
}

impl Verdict {
    /// A claim, whether it holds, and what was seen.
    pub(crate) fn check(&mut self, claim: &str, holds: bool, seen: impl Display) {
        let word = if holds { "ok    " } else { "FAILED" };
        println!("{word}  {claim}: {seen}");
        self.failed += u32::from(!holds);
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
