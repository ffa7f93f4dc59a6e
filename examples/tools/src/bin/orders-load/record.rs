//! What was asked and answered.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::buyer::Errand;

/// A file with a line for every request.
#[derive(Debug)]
pub(crate) struct Record(Mutex<Lines>);

#[derive(Debug)]
struct Lines {
    file: BufWriter<File>,
    number: u64,
}

impl Record {
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Lines { file, number: 0 })))
    }

    pub(crate) fn write(
        &self,
        began: SystemTime,
        took: Duration,
        errand: Errand,
        sku: &str,
        answer: &str,
    ) -> std::io::Result<()> {
        let began = began
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis();
        let errand = match errand {
            Errand::Order => "order",
            Errand::Quote => "quote",
        };
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.number += 1;
        let took = took.as_micros();
        writeln!(lines.file, "{began} {took} {errand} {sku} {answer}")
    }

    /// Makes sure that all is written; how many lines there are.
    pub(crate) fn finish(&self) -> std::io::Result<u64> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.file.flush()?;
        Ok(lines.number)
    }
}
