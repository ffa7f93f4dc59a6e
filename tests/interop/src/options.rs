//! What is asked for.

use std::{path::PathBuf, str::FromStr, time::Duration};

use crate::side::Side;

/// The options.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) lasts: Duration,
    pub(crate) lease: Duration,
    pub(crate) processes: usize,
    /// How long processes do without the lock between two holds, on average.
    pub(crate) rest: Duration,
    pub(crate) sides: Vec<Side>,
    pub(crate) seed: u64,
    /// Python, with redis-py.
    pub(crate) python: PathBuf,
    /// Whether redis-py's side frees whatever it finds, which the judge has to notice.
    pub(crate) control: bool,
    /// Whether nothing is done to anybody.
    pub(crate) calm: bool,
}

impl Options {
    pub(crate) fn parse(words: Vec<String>) -> Result<Self, String> {
        let mut options = Self {
            lasts: Duration::from_secs(30),
            lease: Duration::from_secs(1),
            processes: 3,
            rest: Duration::from_millis(20),
            sides: Side::ALL.to_vec(),
            seed: fastrand::u64(..1_000_000),
            python: "python3".into(),
            control: false,
            calm: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--control" => options.control = true,
                "--calm" => options.calm = true,
                _ => options.set(&word, words.next())?,
            }
        }
        Ok(options)
    }

    fn set(&mut self, word: &str, value: Option<String>) -> Result<(), String> {
        let value = value.ok_or(format!("{word}: without a value"))?;
        match word {
            "--seconds" => self.lasts = Duration::from_secs(number(word, &value, 5)?),
            "--lease-ms" => self.lease = Duration::from_millis(number(word, &value, 200)?),
            "--rest-ms" => self.rest = Duration::from_millis(number(word, &value, 0)?),
            "--processes" => self.processes = number(word, &value, 2)?,
            "--seed" => self.seed = number(word, &value, 0)?,
            "--sides" => self.sides = sides(&value)?,
            "--python" => self.python = value.into(),
            _ => return Err(format!("unknown argument: {word}")),
        }
        Ok(())
    }

    /// How long a process rests this time, in microseconds.
    pub(crate) fn rest(&self) -> u128 {
        self.rest.mul_f64(0.5 + fastrand::f64()).as_micros()
    }
}

fn number<N: FromStr + PartialOrd + Copy>(word: &str, value: &str, least: N) -> Result<N, String> {
    let number = value.parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("{word} {value}: not a number, or too small"))
}

fn sides(value: &str) -> Result<Vec<Side>, String> {
    value.split(',').map(str::parse).collect()
}
