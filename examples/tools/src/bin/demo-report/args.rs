//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::slots::Slots;

/// Looks at what the demo has left behind.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs every query of a dashboard and every rule; each has to return data.
    Dashboard(DashboardArgs),
    /// Checks what the locks promise, and prints the numbers.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DashboardArgs {
    /// The address of Prometheus.
    #[arg(long)]
    pub(crate) prometheus: String,

    /// The file of the dashboard.
    #[arg(long)]
    pub(crate) dashboard: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The record of `orders-load`.
    #[arg(long)]
    pub(crate) requests: PathBuf,

    /// The database file of the shops.
    #[arg(long)]
    pub(crate) db: PathBuf,

    /// Nothing was locked: what is to be shown is the damage.
    #[arg(long)]
    pub(crate) without_lock: bool,

    /// The address of Prometheus.
    #[arg(long)]
    pub(crate) prometheus: Option<String>,

    /// Where the locks live.
    #[arg(long, env = "DLOCK_URL", hide_env_values = true)]
    pub(crate) url: Option<String>,

    /// When a shop was killed, in milliseconds since 1970.
    #[arg(long)]
    pub(crate) shop_killed: Option<u64>,

    /// When a master was killed.
    #[arg(long, requires = "slots")]
    pub(crate) master_killed: Option<u64>,

    /// The slots of that master, as in `0-5460,9000`.
    #[arg(long)]
    pub(crate) slots: Option<Slots>,
}
