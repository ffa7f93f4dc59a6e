//! The command line.

mod seeds;

use std::process::ExitCode;
use std::time::Instant;

use dlock_sim::{LockKind, Profile, Shrunk, exhaust, run_case, shrink, shrink_case};

use self::seeds::{Range, show_one, sweep};

const USAGE: &str = "\
Usage: dlock-sim [OPTIONS] --seeds FROM..TO | --seed N | --exhaustive | --case N

  --seeds FROM..TO   runs these seeds, and shrinks the first that fails
  --seed N           runs one seed and shows its timeline, shrunk if it fails
  --exhaustive       tries every case of the small scopes
  --every N          only one in N of them
  --case N           shows one of these cases, shrunk if it fails
  --twice            runs each seed twice and compares the two traces
  --whole            does not shrink
  --wire             shows what was sent, too
  --threads N        (default: the number of cores)
  --lock mutex|quorum|rw    what seeds are about (default: rw)
  --profile any|storm|members|linger|long  which trouble they are drawn for (default: any)
";

/// The run that the options ask for.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
struct Args {
    seeds: Option<Range>,
    seed: Option<u64>,
    case: Option<u64>,
    exhaustive: bool,
    every: Option<u64>,
    twice: bool,
    whole: bool,
    wire: bool,
    locks: LockKind,
    profile: Profile,
    threads: Option<usize>,
}

impl Args {
    /// How a seed is run again.
    fn again(&self, seed: u64) -> String {
        let mut how = String::new();
        if self.locks != LockKind::Rw {
            how = format!("--lock {} ", self.locks.name());
        }
        if self.profile != Profile::Any {
            how = format!("{how}--profile {} ", self.profile.name());
        }
        format!("{how}--seed {seed}")
    }
}

fn parse() -> Option<Args> {
    let mut args = Args::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seeds" => args.seeds = Some(Range::parse(&words.next()?)?),
            "--seed" => args.seed = Some(words.next()?.parse().ok()?),
            "--case" => args.case = Some(words.next()?.parse().ok()?),
            "--threads" => args.threads = Some(words.next()?.parse().ok()?),
            "--every" => args.every = Some(words.next()?.parse().ok()?),
            "--profile" => args.profile = Profile::parse(&words.next()?)?,
            "--exhaustive" => args.exhaustive = true,
            "--lock" => args.locks = LockKind::parse(&words.next()?)?,
            "--twice" => args.twice = true,
            "--whole" => args.whole = true,
            "--wire" => args.wire = true,
            _ => return None,
        }
    }
    let asked = [
        args.seeds.is_some(),
        args.seed.is_some(),
        args.case.is_some(),
        args.exhaustive,
    ];
    let one = asked.iter().filter(|asked| **asked).count() == 1;
    (one && args.profile.fits(args.locks)).then_some(args)
}

/// Runs; fails if a judge objects.
pub(crate) fn main() -> ExitCode {
    let Some(args) = parse() else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    // Panics are violations, and told with their seeds.
    std::panic::set_hook(Box::new(|_| {}));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.unwrap_or(cores).max(1);
    let fine = if let Some(seeds) = args.seeds {
        sweep(seeds, threads, &args)
    } else if let Some(seed) = args.seed {
        if args.whole {
            show_one(seed, &args)
        } else {
            match shrink(seed, args.locks, args.profile, args.wire) {
                Some(shrunk) => {
                    show(&args.again(seed), &shrunk);
                    false
                }
                None => show_one(seed, &args),
            }
        }
    } else if let Some(case) = args.case {
        if let Some(shrunk) = shrink_case(case, args.wire) {
            show(&format!("--case {case}"), &shrunk);
            false
        } else {
            println!("{}", run_case(case, args.wire).timeline);
            true
        }
    } else {
        try_all(threads, &args)
    };
    if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A failure, as small as it gets.
pub(crate) fn show(how: &str, shrunk: &Shrunk) {
    println!("{}", shrunk.outcome.timeline);
    println!(
        "shrunk to {} acquires of {} processes and {} faults; again: scripts/sim {how}",
        shrunk.acquires, shrunk.processes, shrunk.faults
    );
    if let Some((promise, story)) = &shrunk.outcome.violation {
        println!("VIOLATION of {promise}: {story}");
    }
}

fn try_all(threads: usize, args: &Args) -> bool {
    let start = Instant::now();
    let report = exhaust(threads, args.every.unwrap_or(1).max(1));
    println!(
        "{} of {} cases, {} operations, {:.1} s",
        report.cases,
        dlock_sim::cases(),
        report.operations,
        start.elapsed().as_secs_f64()
    );
    let Some((case, story)) = report.failed else {
        return true;
    };
    println!("case {case}: {story}");
    if !args.whole
        && let Some(shrunk) = shrink_case(case, args.wire)
    {
        show(&format!("--case {case}"), &shrunk);
    }
    false
}
