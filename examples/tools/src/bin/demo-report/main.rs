//! What `scripts/demo` has shown: checks, numbers, and a verdict.

mod args;
mod books;
mod dashboard;
mod locks;
mod prometheus;
mod report;
mod requests;
mod slots;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Args, Command};
use self::verdict::Verdict;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let mut verdict = Verdict::default();
    match Args::parse().command {
        Command::Dashboard(args) => dashboard::check(&args, &mut verdict).await?,
        Command::Report(args) => report::report(&args, &mut verdict).await?,
    }
    Ok(verdict.exit_code())
}
