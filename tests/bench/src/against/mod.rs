//! This build against another one of this program, in turns on the same machine.

mod pairs;
mod ratio;

use std::{
    fmt::{Display, Write as _},
    path::{Path, PathBuf},
};

use serde_json::json;

use self::{
    pairs::{Measured, Pair, Pairs},
    ratio::Ratio,
};
use crate::workload::NAMES;

/// How many pairs it takes to say that something is not slower.
const ENOUGH: usize = 10;

/// What `calls` measures is the server, not dlock, and `sizing` takes long: they are compared when asked for.
const BESIDE: [&str; 2] = ["calls", "sizing"];

/// Runs each workload in `pairs` pairs, prints the ratios and writes them beside where results go.
pub(crate) fn run(
    other: &Path,
    only: &[String],
    pairs: usize,
    output: &Path,
) -> Result<(), String> {
    if let Some(unknown) = only.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(format!("no workload is called `{unknown}`"));
    }
    let wanted = |name: &&str| match only {
        [] => !BESIDE.contains(name),
        only => only.iter().any(|only| only == name),
    };
    let folder = output.parent().unwrap_or(Path::new("."));
    let programs = Pairs::new(other, folder)?;
    println!(
        "{pairs} pairs, the shorter runs of --quick; a ratio of 1 or more is as good as {} or better",
        other.display()
    );
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    let mut verdicts = String::from("\n### Verdict\n\n");
    for workload in NAMES.into_iter().filter(wanted) {
        let verdict = match compare(&programs, workload, pairs) {
            Ok(Compared::Unknown(whose)) => format!("unknown to {whose}"),
            Ok(Compared::Ratios(ratios)) => {
                println!("\n{}", ratio::to_markdown(workload, &ratios));
                all.extend(ratios.iter().map(Ratio::to_json));
                verdict(&ratios, pairs)
            }
            // The others can still be compared.
            Err(error) => {
                eprintln!("{error}");
                failed.push(workload);
                "**failed**".into()
            }
        };
        let _ = writeln!(verdicts, "- {workload}: {verdict}");
    }
    println!("{verdicts}");
    write(&folder.join("against.json"), &json!(all))?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("these failed: {}", failed.join(", ")))
}

/// What came of one workload.
enum Compared {
    Ratios(Vec<Ratio>),
    Unknown(String),
}

fn compare(programs: &Pairs, workload: &str, pairs: usize) -> Result<Compared, String> {
    let mut measured: Vec<Pair> = Vec::new();
    for turn in 0..pairs {
        eprintln!("{workload}: pair {} of {pairs}", turn + 1);
        match programs.measure(workload, turn)? {
            Measured::Pair(pair) => measured.push(pair),
            Measured::Unknown(whose) => return Ok(Compared::Unknown(whose)),
        }
    }
    Ok(Compared::Ratios(Ratio::all(&measured)))
}

/// The line on one workload.
fn verdict(ratios: &[Ratio], pairs: usize) -> String {
    let mut judged: Vec<&Ratio> = ratios.iter().filter(|ratio| ratio.is_judged()).collect();
    judged.sort_by(|a, b| a.median().total_cmp(&b.median()));
    let slower: Vec<&Ratio> = judged
        .iter()
        .copied()
        .filter(|ratio| !ratio.is_not_slower())
        .collect();
    let Some(worst) = judged.first() else {
        return "nothing to judge".into();
    };
    let text = if slower.is_empty() {
        format!("not slower; least: {worst}")
    } else {
        let slower: Vec<String> = slower.iter().map(ToString::to_string).collect();
        format!("**slower**: {}", slower.join("; "))
    };
    if pairs < ENOUGH {
        return format!("undecided after {pairs} of {ENOUGH} pairs; so far {text}");
    }
    text
}

fn write(path: &PathBuf, value: &serde_json::Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    std::fs::write(path, text).map_err(about(path.display()))
}

/// An error as text, with what it is about.
fn about<E: Display>(what: impl Display) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}
