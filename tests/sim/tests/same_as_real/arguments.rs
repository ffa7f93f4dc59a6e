//! Arguments for the library's scripts: mostly what clients send, for few locks, holds and times.

use fastrand::Rng;

use crate::commands::{Words, pick, words};

/// The keys of mutexes.
pub(crate) const MUTEXES: [&str; 2] = ["{a}m", "{b}m"];

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

    /// The arguments of a script of mutexes, a number of `scripts::MUTEX`.
    pub(crate) fn of_mutex(&self, rng: &mut Rng, script: usize) -> Words {
        let key = pick(rng, &MUTEXES);
        let hash = format!("dlock~m:{key}");
        let hold = format!("c{}/{}", rng.u8(0..3), rng.u8(0..3));
        let (hold, publish) = (hold.as_str(), pick(rng, self.publish));
        let lease = pick(rng, &["20000", "30000", "90000"]);
        let valid = self.micros + pick(rng, &[0, 5_000_000, 60_000_000]);
        let till = pick(rng, &[0, 0, 0, self.micros + 5_000_000, 1]).to_string();
        let mut request = if rng.u8(0..5) == 0 {
            words(&["1", key])
        } else {
            words(&["2", key, &hash])
        };
        let place = pick(rng, &[0, 3_000_000, 3_000_000, 47_000_000]);
        let ear = pick(rng, &["0", "1", "3"]);
        let line = format!("{valid:016} {place} {ear} n{} {publish}", rng.u8(0..3));
        let token = (self.token(rng).max(1) + pick(rng, &[0, 1, 3_000_000])).to_string();
        request.extend(words(&match script {
            0 => vec![hold, lease, &line, pick(rng, &["0", "1"])],
            1 | 3 => vec![hold, &till, publish],
            2 if rng.bool() => vec![hold, lease, "1"],
            2 => vec![hold, lease],
            4 => vec![hold, &token],
            _ => vec![pick(rng, &["100", "1", "0"])],
        }));
        request
    }

    /// As a program without dlock takes a mutex, and as dlock tries it first.
    pub(crate) fn plain(rng: &mut Rng) -> Words {
        let value = pick(rng, &["c0/1", "c1/2", "00f1", "00f2"]);
        words(&["SET", pick(rng, &MUTEXES), value, "NX", "PX", "30000"])
    }

    fn token(&self, rng: &mut Rng) -> u64 {
        match rng.u8(0..4) {
            0 if !self.tokens.is_empty() => pick(rng, &self.tokens),
            1 => self.micros + 3,
            _ => 0,
        }
    }
}
