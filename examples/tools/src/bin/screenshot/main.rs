//! Draws a terminal's screen: what a program like `dlock top` wrote to it comes in, an SVG goes out.
//!
//! ```sh
//! script -qec 'stty rows 24 cols 80; dlock top' /dev/null | screenshot --output top.svg
//! ```

mod picture;
mod svg;

use std::io::Read;
use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::Parser;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a program sends when it gives the terminal back; after that its screen is gone.
const LEAVE: &[u8] = b"\x1b[?1049l";

/// Draws what a program has written to a terminal, as it was last seen.
#[derive(Debug, Parser)]
struct Args {
    /// How high the terminal was.
    #[arg(long, default_value = "24")]
    rows: NonZeroU16,

    /// How wide the terminal was.
    #[arg(long, default_value = "80")]
    columns: NonZeroU16,

    /// The picture, as SVG.
    #[arg(long)]
    output: PathBuf,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let end = bytes
        .windows(LEAVE.len())
        .rposition(|window| window == LEAVE)
        .ok_or("the program has never taken over the screen")?;
    let mut terminal = vt100::Parser::new(args.rows, args.columns, 0);
    terminal.process(&bytes[..end]);
    std::fs::write(&args.output, picture::draw(terminal.screen()))?;
    println!("{} shows:", args.output.display());
    println!("{}", terminal.screen().contents());
    Ok(())
}
