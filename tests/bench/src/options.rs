//! What was asked for on the command line.

use std::{num::NonZero, path::PathBuf};

use clap::Parser;

use crate::{system::Kind, workload::Effort};

/// dlock measured side by side with other locks; `scripts/bench --help` tells more.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs everything for a moment, and fails where a figure is missing.
    #[arg(long, conflicts_with_all = ["quick", "against"])]
    pub(crate) smoke: bool,
    #[arg(long)]
    pub(crate) repeats: Option<NonZero<usize>>,
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[arg(long, value_delimiter = ',', default_values_t = Kind::ALL)]
    pub(crate) systems: Vec<Kind>,
    #[arg(long, default_value = "results.json")]
    pub(crate) output: PathBuf,
    /// Another build of this program to compare with.
    #[arg(long)]
    pub(crate) against: Option<PathBuf>,
    #[arg(long, default_value = "10")]
    pub(crate) pairs: NonZero<usize>,
}

impl Options {
    pub(crate) fn effort(&self) -> Effort {
        match (self.smoke, self.quick) {
            (true, _) => Effort::Smoke,
            (false, true) => Effort::Quick,
            (false, false) => Effort::Full,
        }
    }

    pub(crate) fn repeats(&self) -> usize {
        let usual = self.effort().pick(1, 1, 3);
        self.repeats.map_or(usual, NonZero::get)
    }
}
