//! Output. Each line is written in one piece, so processes that write to one file do not interleave.

use std::io::{self, Write as _};

use serde_json::Value;

/// Writes text to the standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a line of JSON to the standard output.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print(&format!("{value}\n"))
}

/// Writes a line to the standard error. There is nowhere to report that it is closed.
pub(crate) fn tell(line: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}
