//! `dlock completions`.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Args;
use crate::exit::{Exit, Failure};
use crate::output;

pub(crate) fn print(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "dlock", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::DONE)
}
