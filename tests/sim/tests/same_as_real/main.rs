//! The simulated servers and the real ones answer the same: sequences of commands and scripts, drawn from a seed, are sent
//! to both.
//!
//! `DLOCK_REDIS_SERVER` names the real server, `DLOCK_SIM_SEQUENCES` says how many sequences of each kind (50), and
//! `DLOCK_SIM_SEED` which one to begin with (0).

mod arguments;
mod commands;
mod compare;
mod conf;
mod down;
mod every;
mod loading;
mod moving;
mod real;
mod refusals;
mod replicas;
mod roles;
mod scripts;
mod side;
mod single;
mod slots;
mod value;

/// How many sequences, and the first one's seed.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, otherwise| match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    };
    let first = number("DLOCK_SIM_SEED", 0);
    first..first + number("DLOCK_SIM_SEQUENCES", 50)
}

#[test]
fn one_server_answers_as_a_real_one() {
    single::compare(seeds());
}

#[test]
fn one_server_that_refuses_answers_as_a_real_one() {
    refusals::compare(seeds());
}

#[test]
fn a_cluster_with_replicas_answers_as_a_real_one() {
    replicas::compare(seeds());
}

#[test]
fn one_server_that_loads_answers_as_a_real_one() {
    loading::compare(seeds());
}

#[test]
fn a_cluster_that_lacks_slots_answers_as_a_real_one() {
    down::compare(seeds());
}

#[test]
fn a_cluster_whose_slots_move_answers_as_a_real_one() {
    moving::compare(seeds());
}
