//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// A shop that sells from a stock it shares with other processes.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// Where to listen on 127.0.0.1; 0 takes any free port.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,

    /// The database file with the stock; made if missing.
    #[arg(long, default_value = "orders.db")]
    pub(crate) db: PathBuf,

    /// Where the locks live.
    #[arg(
        long,
        env = "DLOCK_URL",
        default_value = "memory://",
        hide_env_values = true
    )]
    pub(crate) url: String,

    /// What `dlock top` and `dlock inspect` call this process; host and process id if not given.
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// How long a crashed process keeps others out, in milliseconds.
    #[arg(long = "lease-ms", default_value = "3000", value_parser = milliseconds)]
    pub(crate) lease: Duration,

    /// Locks nothing, to show what goes wrong then.
    #[arg(long)]
    pub(crate) without_lock: bool,
}

fn milliseconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_millis)
}
