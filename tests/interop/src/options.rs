//! The trial that the options ask for.

use std::{path::PathBuf, time::Duration};

use clap::{
    CommandFactory as _, Parser, ValueEnum as _,
    builder::{RangedU64ValueParser, TypedValueParser as _},
    error::ErrorKind,
};

use crate::side::Side;

/// One mutex, contended by dlock and by libraries of other languages; `scripts/interop --help` tells more.
#[derive(Clone, Debug, Parser)]
#[command(args_override_self = true)]
pub(crate) struct Options {
    /// How long the run lasts.
    #[arg(long = "seconds", default_value = "30", value_parser = least(5).map(Duration::from_secs))]
    pub(crate) lasts: Duration,
    #[arg(long = "lease-ms", default_value = "1000", value_parser = least(200).map(Duration::from_millis))]
    pub(crate) lease: Duration,
    /// How many processes each side has.
    #[arg(long, default_value = "3", value_parser = least::<usize>(2))]
    pub(crate) processes: usize,
    /// How long a process does without the lock between two holds, on average.
    #[arg(long = "rest-ms", default_value = "20", value_parser = least(0).map(Duration::from_millis))]
    pub(crate) rest: Duration,
    /// The libraries that take part; otherwise all that can.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sides: Vec<Side>,
    /// How many servers the lock is on, if it is on most of several.
    #[arg(long, value_parser = least::<usize>(3))]
    pub(crate) quorum: Option<usize>,
    /// By how many seconds the clock of the first server is ahead.
    #[arg(long, value_parser = least(1).map(Duration::from_secs))]
    pub(crate) ahead: Option<Duration>,
    /// The library that sets that clock.
    #[arg(long, default_value = "clock.so")]
    pub(crate) clock: PathBuf,
    /// The processes of dlock ask for fencing tokens.
    #[arg(long)]
    pub(crate) fenced: bool,
    #[arg(long, default_value_t = fastrand::u64(..1_000_000))]
    pub(crate) seed: u64,
    /// Python, with redis-py.
    #[arg(long, default_value = "python3")]
    pub(crate) python: PathBuf,
    /// One side deletes the key instead of releasing the lock, and the checker has to notice it.
    #[arg(long)]
    pub(crate) control: bool,
    /// The run has no faults.
    #[arg(long)]
    pub(crate) calm: bool,
}

impl Options {
    /// Reads the command line; ends the program if the options contradict each other.
    pub(crate) fn read() -> Self {
        let mut options = Self::parse();
        if options.sides.is_empty() {
            let can = |side: &&Side| options.quorum.is_none() || side.knows_quorums();
            options.sides = Side::value_variants().iter().filter(can).copied().collect();
        }
        if let Some(error) = options.contradiction() {
            let mut command = Self::command();
            command.error(ErrorKind::ArgumentConflict, error).exit();
        }
        options
    }

    fn contradiction(&self) -> Option<String> {
        let takes_part = |side: &Side| self.sides.contains(side);
        let mut sides = self.sides.iter();
        let cannot = sides.find(|side| self.quorum.is_some() && !side.knows_quorums());
        if let Some(side) = cannot {
            return Some(format!("{side} knows no quorum"));
        }
        if self.fenced && !takes_part(&Side::Dlock) {
            return Some("only dlock has fencing tokens".to_owned());
        }
        let careless = self.careless().filter(|side| !takes_part(side))?;
        Some(format!("--control needs {careless}"))
    }

    /// Whether servers are killed and frozen.
    pub(crate) fn servers_fail(&self) -> bool {
        self.quorum.is_some() && !self.calm
    }

    /// The side that deletes the key of any holder.
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

fn least<N: TryFrom<u64>>(least: u64) -> RangedU64ValueParser<N> {
    RangedU64ValueParser::new().range(least..)
}
