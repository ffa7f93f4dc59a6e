//! The trial that the options ask for.

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
    /// How many servers the lock is on, if it is on most of several.
    pub(crate) quorum: Option<usize>,
    /// How far the clock of one server is ahead.
    pub(crate) ahead: Option<Duration>,
    /// The library that puts it there.
    pub(crate) clock: PathBuf,
    /// Whether dlock's processes want fencing tokens.
    pub(crate) fenced: bool,
    pub(crate) seed: u64,
    /// Python, with redis-py.
    pub(crate) python: PathBuf,
    /// Whether a side frees whatever it finds, which the judge has to notice.
    pub(crate) control: bool,
    /// Whether there are no faults.
    pub(crate) calm: bool,
}

impl Options {
    pub(crate) fn parse(words: Vec<String>) -> Result<Self, String> {
        let mut options = Self {
            lasts: Duration::from_secs(30),
            lease: Duration::from_secs(1),
            processes: 3,
            rest: Duration::from_millis(20),
            sides: Vec::new(),
            quorum: None,
            ahead: None,
            clock: PathBuf::new(),
            fenced: false,
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
                "--fenced" => options.fenced = true,
                _ => options.set(&word, words.next())?,
            }
        }
        let can = match options.quorum {
            Some(_) => &Side::OF_QUORUMS[..],
            None => &Side::ALL,
        };
        if options.sides.is_empty() {
            options.sides = can.to_vec();
        }
        let takes_part = |side: &Side| options.sides.contains(side);
        if let Some(side) = options.sides.iter().find(|side| !can.contains(side)) {
            return Err(format!("{side} knows no quorum"));
        }
        if options.fenced && !takes_part(&Side::Dlock) {
            return Err("only dlock has fencing tokens".to_owned());
        }
        if let Some(careless) = options.careless().filter(|side| !takes_part(side)) {
            return Err(format!("--control needs {careless}"));
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
            "--quorum" => self.quorum = Some(number(word, &value, 3)?),
            "--ahead" => self.ahead = Some(Duration::from_secs(number(word, &value, 1)?)),
            "--clock" => self.clock = value.into(),
            "--python" => self.python = value.into(),
            _ => return Err(format!("unknown argument: {word}")),
        }
        Ok(())
    }

    /// Whether servers are killed and frozen.
    pub(crate) fn servers_fail(&self) -> bool {
        self.quorum.is_some() && !self.calm
    }

    /// The side that frees whatever it finds.
    pub(crate) fn careless(&self) -> Option<Side> {
        let side = match self.quorum {
            Some(_) => Side::NodeRedlock,
            None => Side::RedisPy,
        };
        self.control.then_some(side)
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
