//! A run that is interrupted at any moment leaves no process, no port and no file behind, whichever process is killed, and how.

mod run;

use std::time::Duration;

use self::run::{Run, Whom};

/// How many moments are drawn; `DLOCK_SOAK_MOMENTS` asks for more.
const MOMENTS: u64 = 8;
/// Within it servers start, workers work and faults happen.
const LONGEST: Duration = Duration::from_secs(7);
/// Runs at the same time.
const AT_ONCE: u64 = 4;

#[test]
fn a_run_that_is_interrupted_at_any_moment_leaves_nothing() {
    let moments = std::env::var("DLOCK_SOAK_MOMENTS");
    let moments = moments.map_or(MOMENTS, |text| text.parse().expect("a number"));
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            let own = (first..moments).step_by(usize::try_from(AT_ONCE).expect("small"));
            scope.spawn(move || own.for_each(interrupt));
        }
    });
}

fn interrupt(number: u64) {
    let whom = Whom::ALL[usize::try_from(number).expect("small") % Whom::ALL.len()];
    let servers = match number % 3 {
        0 => ["--topology", "single"],
        1 => ["--topology", "cluster"],
        _ => ["--lock", "quorum"],
    };
    let [_, kind] = servers;
    let run = Run::start(number, servers);
    let moment = LONGEST.mul_f64(fastrand::f64());
    std::thread::sleep(moment);
    let seen = run.seen();
    run.strike(whom);
    let story = format!("{kind}: {whom:?} after {moment:?}, with {seen}");
    run.leaves_nothing(&story);
    println!("{story}: nothing left");
}
