//! dlock on real servers, in real processes, under drawn faults, judged from outside. `scripts/soak` builds and calls it.
//!
//! | room | is there for |
//! |---|---|
//! | `cli` | the command line |
//! | `supervise` | that nothing outlives a run |
//! | `plan` | what a seed means, as data; `weights` has how often what is drawn |
//! | `driver` | rounds: servers, workers, who watches them |
//! | `faults` | what goes wrong, begun and ended |
//! | `worker` | processes at work |
//! | `judges` | who objects |
//! | `figures` | the sums |

mod cli;
mod driver;
mod faults;
mod figures;
mod judges;
mod plan;
mod supervise;
mod weights;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["keeper", folder, ref rest @ ..] => supervise::keeper(folder, rest),
        ["core", folder, ref rest @ ..] => driver::main(folder, rest),
        ["worker", ref rest @ ..] => worker::main(rest),
        ref options => supervise::front(options),
    }
}
