//! One mutex key, on one server or most of several, contended by processes of dlock, redis-py and node-redlock, and judged
//! from outside. `scripts/interop` builds and calls it.
//!
//! | room | is there for |
//! |---|---|
//! | `options` | the command line |
//! | `side` | the libraries, and the programs that use them |
//! | `contender` | dlock's own such program, with `lock`; those of the others are in `contenders` |
//! | `trial` | a run: servers, processes, faults |
//! | `members` | the servers, killed, frozen and started again, one with a wrong clock (`clock.c`) |
//! | `reader`, `answer` | what they say of the key |
//! | `outage` | what is done to them |
//! | `fleet` | the processes, killed, frozen and started again |
//! | `incident` | what is done to which process |
//! | `hearing` | a process' connection to the judge, who also tells it what to do |
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
mod lock;
mod members;
mod options;
mod outage;
mod reader;
mod side;
mod trial;

use std::process::ExitCode;

use crate::options::Options;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = &words[..]
        && first == "contender"
    {
        contender::run(rest).await;
        return ExitCode::SUCCESS;
    }
    match Options::parse(words) {
        Ok(options) => trial::run(options).await,
        Err(error) => {
            eprintln!("dlock-interop: {error}; scripts/interop --help tells more");
            ExitCode::from(2)
        }
    }
}
