//! Draws what `scripts/bench` has measured, for the README; run by `scripts/chart`.

mod measurement;
mod panel;
mod svg;

use std::path::PathBuf;

use clap::Parser;

use self::measurement::Measurement;
use self::panel::{PANELS, Panel};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Draws the results of a benchmark.
#[derive(Debug, Parser)]
struct Args {
    /// What `scripts/bench` wrote.
    #[arg(long)]
    results: PathBuf,

    /// The picture, as SVG.
    #[arg(long)]
    output: PathBuf,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let read = |error| format!("{}: {error}", args.results.display());
    let text = std::fs::read(&args.results).map_err(read)?;
    let measurements: Vec<Measurement> = serde_json::from_slice(&text)?;
    let drawable: Vec<_> = PANELS
        .iter()
        .map(|panel| (panel, panel.bars(&measurements)))
        .filter(|(_, bars)| !bars.is_empty())
        .collect();
    if drawable.is_empty() {
        let workloads: Vec<_> = PANELS.iter().map(Panel::source).collect();
        return Err(format!("none of these was measured: {}", workloads.join(", ")).into());
    }
    std::fs::write(&args.output, svg::draw(&drawable))?;
    println!("{} panels in {}", drawable.len(), args.output.display());
    Ok(())
}
