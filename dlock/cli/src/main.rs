//! `dlock`: distributed locks from the command line. `dlock --help` tells the rest.

mod args;
mod completions;
mod connect;
mod duration;
mod exit;
mod force_release;
mod hidden;
mod inspect;
mod json;
mod list;
mod lock;
mod output;
mod run;
mod table;
mod top;
mod who;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use exit::{Exit, Failure};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let json = args.common.json;
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Failure::from)
        .and_then(|runtime| runtime.block_on(execute(args)));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(json),
    }
}

async fn execute(args: Args) -> Result<Exit, Failure> {
    let Args { common, command } = args;
    match command {
        Command::Run(run) => run::run(&common, run).await,
        Command::Inspect(args) => inspect::inspect(&common, &args).await,
        Command::List { pattern } => list::list(&common, &pattern).await,
        Command::Top(top) => top::top(&common, top).await,
        Command::ForceRelease(args) => force_release::force_release(&common, args).await,
        Command::Completions { shell } => completions::print(shell),
    }
}
