//! A seed is one history.

#![cfg(dlock_sim)]

use dlock_sim::{LockKind, Outcome, Profile, Seed, run_seed};

fn run(number: u64, locks: LockKind) -> Outcome {
    run_of(Profile::Any, number, locks)
}

fn run_of(profile: Profile, number: u64, locks: LockKind) -> Outcome {
    run_seed(Seed {
        number,
        told: false,
        wire: false,
        locks,
        profile,
    })
}

#[test]
fn seeds_repeat_exactly() {
    for locks in [LockKind::Rw, LockKind::Mutex, LockKind::Quorum] {
        for seed in 0..12 {
            let (first, second) = (run(seed, locks), run(seed, locks));
            assert_eq!(first.hash, second.hash, "seed {seed}");
            assert_eq!(first.operations, second.operations, "seed {seed}");
        }
    }
}

#[test]
fn seeds_of_profiles_repeat_exactly() {
    for (profile, locks, seeds) in [
        (Profile::Storm, LockKind::Rw, 1),
        (Profile::Members, LockKind::Quorum, 1),
        (Profile::Long, LockKind::Rw, 10),
        (Profile::Long, LockKind::Mutex, 5),
    ] {
        for seed in 0..seeds {
            let hashes = [(); 2].map(|()| run_of(profile, seed, locks).hash);
            assert_eq!(hashes[0], hashes[1], "seed {seed} of {}", profile.name());
        }
    }
}

#[test]
fn seeds_differ() {
    let hash = |number, locks| run(number, locks).hash;
    assert_ne!(hash(1, LockKind::Rw), hash(2, LockKind::Rw));
    assert_ne!(hash(1, LockKind::Rw), hash(1, LockKind::Mutex));
}

#[test]
fn a_story_that_is_told_is_the_same_story() {
    let told = run_seed(Seed {
        number: 3,
        told: true,
        wire: true,
        locks: LockKind::Rw,
        profile: Profile::Any,
    });
    assert_eq!(told.hash, run(3, LockKind::Rw).hash);
    assert!(told.timeline.contains("writes lock") || told.timeline.contains("reads lock"));
}
