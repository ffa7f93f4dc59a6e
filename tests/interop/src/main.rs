//! One mutex key, on one server or most of several, contended by processes of dlock, redis-py and node-redlock, and judged
//! from outside. `scripts/interop` builds and calls it.
//!
//! | module | contains |
//! |---|---|
//! | `options` | the command line |
//! | `side` | the libraries, and the programs that use them |
//! | `contender` | dlock's own such program; those of the others are in `contenders` |
//! | `trial` | a run: servers, processes, faults |
//! | `members` | the servers, killed, frozen and started again, one with a wrong clock (`clock.c`) |
//! | `reader`, `answer` | what they say of the key |
//! | `outage` | what is done to them |
//! | `fleet` | the processes, killed, frozen and started again |
//! | `incident` | what is done to which process |
//! | `hearing`, `wire` | a process' connection to the checker, which also tells it what to do |
//! | `court` | the rules |
//! | `figures` | what is counted, and whether it is enough |

mod answer;
mod clock;
mod contender;
mod court;
mod figures;
mod fleet;
mod hearing;
mod incident;
mod members;
mod options;
mod outage;
mod reader;
mod side;
mod trial;
mod wire;

use std::{env::args, process::ExitCode};

use clap::Parser as _;

use crate::{contender::Terms, options::Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if args().nth(1).is_some_and(|word| word == "contender") {
        contender::run(Terms::parse_from(args().skip(1))).await;
        return ExitCode::SUCCESS;
    }
    trial::run(Options::read()).await
}
