//! A seed is one history.

#![cfg(dlock_sim)]

use dlock_sim::{Outcome, Seed, run_seed};

fn run(number: u64) -> Outcome {
    run_seed(Seed {
        number,
        told: false,
        wire: false,
    })
}

#[test]
fn seeds_repeat_exactly() {
    for seed in 0..12 {
        let (first, second) = (run(seed), run(seed));
        assert_eq!(first.hash, second.hash, "seed {seed}");
        assert_eq!(first.operations, second.operations, "seed {seed}");
    }
}

#[test]
fn seeds_differ() {
    assert_ne!(run(1).hash, run(2).hash);
}

#[test]
fn a_story_that_is_told_is_the_same_story() {
    let told = run_seed(Seed {
        number: 3,
        told: true,
        wire: true,
    });
    assert_eq!(told.hash, run(3).hash);
    assert!(told.timeline.contains("writes lock") || told.timeline.contains("reads lock"));
}
