//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Orders and asks for quotes at several shops for a while.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// The address of a shop, as in `http://127.0.0.1:8080`; once for each.
    #[arg(long = "shop", required = true)]
    pub(crate) shops: Vec<String>,

    /// How long.
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u64,

    /// Where to write a line for every request: when it began (milliseconds since 1970), how long it
    /// took (microseconds), what for, which article, and the answer.
    #[arg(long)]
    pub(crate) log: PathBuf,

    /// How many order each article.
    #[arg(long, default_value_t = 3)]
    pub(crate) buyers: usize,

    /// How many ask for the price of each article.
    #[arg(long, default_value_t = 2)]
    pub(crate) askers: usize,
}
