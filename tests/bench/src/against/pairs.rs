//! Two programs that measure the same thing one after the other.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use super::about;

/// These mostly wait for leases to pass, so that both programs can do so at the same time. They then
/// share whatever disturbs the machine, and ten pairs take half as long.
const SIDE_BY_SIDE: [&str; 2] = ["w6", "w7"];

/// One number of `results.json`.
#[derive(Clone, Debug)]
pub(super) struct Number {
    /// Such as `w3-8`.
    pub(super) workload: String,
    pub(super) system: String,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) value: f64,
}

/// What both programs measured in one turn.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) ours: Vec<Number>,
    pub(super) theirs: Vec<Number>,
}

/// What came of one turn.
#[derive(Debug)]
pub(super) enum Measured {
    Pair(Pair),
    /// This program knows nothing of the workload: builds of another age skip what they do not know.
    Unknown(String),
}

/// The two programs.
#[derive(Debug)]
pub(super) struct Pairs {
    ours: PathBuf,
    theirs: PathBuf,
    folder: PathBuf,
}

impl Pairs {
    /// This program and another, which leave their results in `folder`.
    pub(super) fn new(theirs: &Path, folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(about(folder.display()))?;
        Ok(Self {
            ours: std::env::current_exe().map_err(|error| error.to_string())?,
            theirs: theirs.canonicalize().map_err(about(theirs.display()))?,
            folder: folder.to_owned(),
        })
    }

    /// Lets both measure a workload. They take turns at going first; in the first turn the other program does.
    pub(super) fn measure(&self, workload: &str, turn: usize) -> Result<Measured, String> {
        let output = |name| self.folder.join(name);
        let ours = || start(&self.ours, workload, output("against-ours.json"));
        let theirs = || start(&self.theirs, workload, output("against-theirs.json"));
        let (ours, theirs) = if SIDE_BY_SIDE.contains(&workload) {
            let (theirs, ours) = (theirs()?, ours()?);
            (ours.finish()?, theirs.finish()?)
        } else if turn.is_multiple_of(2) {
            let theirs = theirs()?.finish()?;
            if theirs.is_empty() {
                return Ok(Measured::Unknown(self.theirs.display().to_string()));
            }
            (ours()?.finish()?, theirs)
        } else {
            (ours()?.finish()?, theirs()?.finish()?)
        };
        for (numbers, program) in [(&ours, &self.ours), (&theirs, &self.theirs)] {
            if numbers.is_empty() {
                return Ok(Measured::Unknown(program.display().to_string()));
            }
        }
        Ok(Measured::Pair(Pair { ours, theirs }))
    }
}

/// A program that measures.
struct Running {
    child: Child,
    what: String,
    output: PathBuf,
}

fn start(program: &Path, workload: &str, output: PathBuf) -> Result<Running, String> {
    let what = format!("{} --only {workload}", program.display());
    // What an earlier turn left here must not pass for what this one measured.
    if output.exists() {
        std::fs::remove_file(&output).map_err(about(output.display()))?;
    }
    let child = Command::new(program)
        .args(["--quick", "--systems", "dlock", "--repeats", "1"])
        .args(["--only", workload, "--output"])
        .arg(&output)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    Ok(Running {
        child: child.map_err(about(&what))?,
        what,
        output,
    })
}

impl Running {
    fn finish(self) -> Result<Vec<Number>, String> {
        let ended = self.child.wait_with_output().map_err(about(&self.what))?;
        if ended.status.success() {
            return read(&self.output);
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(format!("{}: {}\n{said}", self.what, ended.status))
    }
}

fn read(file: &Path) -> Result<Vec<Number>, String> {
    let text = std::fs::read_to_string(file).map_err(about(file.display()))?;
    let entries: Vec<Value> = serde_json::from_str(&text).map_err(about(file.display()))?;
    let numbers = entries.iter().filter_map(|entry| {
        let text = |name: &str| Some(entry.get(name)?.as_str()?.to_owned());
        Some(Number {
            workload: text("workload")?,
            system: text("system")?,
            metric: text("metric")?,
            unit: text("unit")?,
            // JSON has no word for what is not a number.
            value: entry.get("value")?.as_f64()?,
        })
    });
    Ok(numbers.collect())
}
