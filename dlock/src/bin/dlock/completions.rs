//! `dlock completions`.

use std::io;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Args;
use crate::exit::{Exit, Failure};

#[expect(clippy::unnecessary_wraps, reason = "as all commands")]
pub(crate) fn print(shell: Shell) -> Result<Exit, Failure> {
    generate(shell, &mut Args::command(), "dlock", &mut io::stdout());
    Ok(Exit::DONE)
}
