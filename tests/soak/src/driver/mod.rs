//! The core of a run: one round after the other, until the time is up.

mod facts;
mod fleet;
mod homes;
mod keep;
mod resource;
mod round;
mod sampler;
mod site;
mod watch;

use std::{
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use self::round::{Times, round};
pub(crate) use self::{
    facts::{Facts, Known, Loss, Outage},
    fleet::Fleet,
    resource::Updates,
    round::Outcome,
    sampler::{Sample, Sampler},
    site::{Role, Site},
};
use crate::{
    cli::{Options, report},
    figures::Figures,
    plan::{Draw, Kind, Plan},
    supervise,
};

/// A round of a run of many minutes.
const USUAL: Times = Times {
    before: Duration::from_secs(4),
    faults: Duration::from_secs(28),
    settling: Duration::from_secs(5),
    after: Duration::from_secs(5),
    in_a_hurry: false,
};
/// A round that a person waits for.
const QUICK: Times = Times {
    before: Duration::from_secs(1),
    faults: Duration::from_secs(6),
    settling: Duration::from_secs(3),
    after: Duration::from_secs(1),
    in_a_hurry: false,
};
/// The usual time to start and to end in addition.
const OVERHEAD: Duration = Duration::from_secs(15);

/// Runs; fails if a judge objects, or if none does where one should.
pub(crate) fn main(folder: &str, words: &[&str]) -> ExitCode {
    let _tether = supervise::end_with_keeper(folder);
    fs::create_dir_all(folder).expect("the temporary folder is writable");
    let options = Options::parse(words).expect("it was understood before");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime starts");
    runtime.block_on(run(&options, Path::new(folder)))
}

async fn run(options: &Options, folder: &Path) -> ExitCode {
    let mut figures = Figures::begin(options);
    let times = if options.quick { QUICK } else { USUAL };
    let usual = times.before + times.faults + times.settling + times.after + OVERHEAD;
    let begun = Instant::now();
    loop {
        let left = options.lasts.saturating_sub(begun.elapsed());
        let first = figures.rounds_now == 0;
        if !first && left < usual / 2 {
            break;
        }
        // The last round is shorter, if need be.
        let times = Times {
            faults: times
                .faults
                .saturating_sub(usual.saturating_sub(left))
                .max(times.faults / 4),
            in_a_hurry: options.until_objection || options.kind != Kind::Dlock,
            ..times
        };
        let draw = Draw {
            seed: options.seed,
            round: options.round.unwrap_or(figures.sum("rounds")),
            topology: options.topology,
            lock: options.lock,
            kind: options.kind,
        };
        let plan = Plan::draw(draw);
        report::begins(&plan);
        let histories = folder.join(format!("round-{}", draw.round));
        let outcome = Box::pin(round(&plan, times, &histories)).await;
        let kept = keep::histories(options, &plan, &outcome);
        report::ended(&outcome, kept.as_deref());
        let objects = figures.add(&plan, &outcome);
        figures.save(options);
        // They are in the figures by now.
        fs::remove_dir_all(&outcome.folder).expect("the run's folder is its own");
        let seen = figures.shows_violations_and_lost_updates();
        let enough = options.round.is_some()
            || options.until_objection && objects
            || options.kind != Kind::Dlock && seen;
        if enough {
            break;
        }
    }
    report::all(options, &figures);
    if figures.is_as_it_should_be(options) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
