//! Running many seeds.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use dlock_sim::{LockKind, Outcome, Seed, run_seed, shrink};
use parking_lot::Mutex;

use super::{Args, show};

/// Seeds, from one to before another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    from: u64,
    to: u64,
}

impl Range {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once("..")?;
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        (from < to).then_some(Self { from, to })
    }
}

/// What all threads have found.
#[derive(Debug, Default)]
struct Found {
    operations: Vec<u64>,
    faults: Vec<u64>,
    nanos: u64,
    excused: u64,
    /// The longest of their times without a grant, and in which seed.
    gaps: [(u64, u64); 2],
    /// All traces: the same for the same seeds, in whatever order they were run.
    traces: u64,
    failed: Vec<(u64, String)>,
}

/// After how many seeds a word is said about how far it is.
const PROGRESS: usize = 1000;

const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;

/// Runs seeds until one fails, tells how many, and shows the failure.
pub(super) fn sweep(seeds: Range, threads: usize, args: &Args) -> bool {
    let start = Instant::now();
    let next = AtomicU64::new(seeds.from);
    let stop = AtomicBool::new(false);
    let found = Mutex::new(Found::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= seeds.to {
                        return;
                    }
                    let (outcome, failure) = run(number, args);
                    let mut found = found.lock();
                    found.operations.push(outcome.operations);
                    found.faults.push(outcome.faults);
                    found.nanos += outcome.nanos;
                    found.excused += outcome.excused;
                    for (longest, gap) in found.gaps.iter_mut().zip(outcome.gaps) {
                        *longest = (*longest).max((gap, number));
                    }
                    found.traces ^= (outcome.hash ^ number).wrapping_mul(PRIME).rotate_left(32);
                    let run = found.operations.len();
                    if run.is_multiple_of(PROGRESS) {
                        eprintln!("{run} seeds in {:.0} s", start.elapsed().as_secs_f64());
                    }
                    if let Some(failure) = failure {
                        found.failed.push((number, failure));
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut found = found.into_inner();
    summary(&mut found, start.elapsed().as_secs_f64());
    if args.locks == LockKind::Quorum {
        let [calm, any] = found
            .gaps
            .map(|(gap, seed)| format!("{} ms (seed {seed})", gap / 1_000_000));
        println!("longest without a grant: {calm} while nothing is wrong, {any} at any time");
    }
    found.failed.sort_unstable();
    let Some((seed, story)) = found.failed.first() else {
        return true;
    };
    println!("seed {seed}: {story}");
    if !args.whole
        && let Some(shrunk) = shrink(*seed, args.locks, args.profile, args.wire)
    {
        show(&args.again(*seed), &shrunk);
    }
    false
}

fn run(number: u64, args: &Args) -> (Outcome, Option<String>) {
    let seed = Seed {
        number,
        told: false,
        wire: false,
        locks: args.locks,
        profile: args.profile,
    };
    let outcome = run_seed(seed);
    let mut failure = (outcome.violation.as_ref())
        .map(|(promise, story)| format!("VIOLATION of {promise}: {story}"));
    if args.twice && run_seed(seed).hash != outcome.hash {
        failure = Some("two runs differ".to_owned());
    }
    (outcome, failure)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rates for readers do not need all digits"
)]
fn summary(found: &mut Found, seconds: f64) {
    let seeds = found.operations.len();
    let operations: u64 = found.operations.iter().sum();
    found.operations.sort_unstable();
    found.faults.sort_unstable();
    let median = |sorted: &[u64]| sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    println!(
        "{seeds} seeds, {operations} operations (median {}), {} faults (median {}), {} overlaps put down to lost data",
        median(&found.operations),
        found.faults.iter().sum::<u64>(),
        median(&found.faults),
        found.excused,
    );
    println!(
        "{seconds:.1} s: {:.1} seeds/s, {:.0} operations/s, {:.0} simulated hours an hour; traces {:016x}",
        seeds as f64 / seconds,
        operations as f64 / seconds,
        found.nanos as f64 / 1e9 / seconds,
        found.traces,
    );
}

/// Runs a seed and shows all of it.
pub(super) fn show_one(number: u64, args: &Args) -> bool {
    let outcome = run_seed(Seed {
        number,
        told: true,
        wire: args.wire,
        locks: args.locks,
        profile: args.profile,
    });
    println!("{}", outcome.timeline);
    println!(
        "seed {number}: {} operations, {} faults, {} ms, trace {:016x}",
        outcome.operations,
        outcome.faults,
        outcome.nanos / 1_000_000,
        outcome.hash
    );
    if args.locks == LockKind::Quorum {
        let [calm, any] = outcome.gaps.map(|gap| gap / 1_000_000);
        println!("longest without a grant: {calm} ms while nothing is wrong, {any} ms at any time");
    }
    match outcome.violation {
        Some((promise, story)) => {
            println!("VIOLATION of {promise}: {story}");
            false
        }
        None => true,
    }
}
