//! Arguments for the library's scripts: mostly what clients send, for few locks, holds and times.

use fastrand::Rng;

use crate::commands::{Words, pick, words};

/// How the next requests are put.
#[derive(Debug)]
pub(crate) struct Locks<'l> {
    /// The keys of the locks, each `PREFIX:…`.
    pub(crate) keys: &'l [&'l str],
    /// The time that the scripts see, in microseconds.
    pub(crate) micros: u64,
    /// How scripts may publish, such as `S5`.
    pub(crate) publish: &'l [&'l str],
    /// Tokens that have been answered lately.
    pub(crate) tokens: Vec<u64>,
}

impl Locks<'_> {
    /// What follows the script: the key and the arguments. `script` is a number of `scripts::LIBRARY`.
    pub(crate) fn draw(&self, rng: &mut Rng, script: usize) -> Words {
        let key = pick(rng, self.keys);
        let hold = format!("c{}/{}", rng.u8(0..3), rng.u8(0..3));
        let publish = pick(rng, self.publish);
        let lease: u64 = pick(
            rng,
            &[20_000_000, 30_000_000, 33_000_000, 90_000_000, 600_000_000],
        );
        let kept = (lease / 1000 + 1001).to_string();
        let valid = self.micros + pick(rng, &[0, 5_000_000, 60_000_000]);
        let till = pick(rng, &[0, 0, 0, self.micros + 5_000_000, 1]).to_string();
        let forget = if rng.bool() { "" } else { "31001" };
        match script {
            0 => {
                let place = pick(rng, &[0, 3_000_000, 3_000_000, 47_000_000]);
                let ear = pick(rng, &["0", "1", "3"]);
                let line = format!("{valid:016} {place} {ear} n{} {publish}", rng.u8(0..3));
                let hold = format!("={hold}");
                if rng.bool() {
                    return words(&["1", key, &hold, &kept, &line]);
                }
                let mode = pick(rng, &["r", "r", "w"]);
                let owner = pick(rng, &["", "", "o1", "o2"]);
                words(&[
                    "1",
                    key,
                    &hold,
                    &format!("{mode} {lease} {owner}"),
                    &line,
                    &kept,
                ])
            }
            1 => words(&["1", key, &hold, forget, &till, publish]),
            2 => words(&["1", key, &hold, &lease.to_string()]),
            3 => words(&["1", key, &hold, &till, publish]),
            4 => {
                let seen = self.token(rng).to_string();
                words(&["1", key, &hold, &lease.to_string(), &seen, &till, publish])
            }
            5 => {
                let ahead = pick(rng, &[0, 1, 500_000, 3_000_000]);
                let token = (self.token(rng).max(1) + ahead).to_string();
                words(&["1", key, &hold, &token])
            }
            _ => words(&["1", key, pick(rng, &["100", "1", "0"])]),
        }
    }

    fn token(&self, rng: &mut Rng) -> u64 {
        match rng.u8(0..4) {
            0 if !self.tokens.is_empty() => pick(rng, &self.tokens),
            1 => self.micros + 3,
            _ => 0,
        }
    }
}
