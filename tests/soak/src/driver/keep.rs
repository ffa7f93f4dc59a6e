//! Histories of rounds that a checker objected to, kept for people.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Outcome;
use crate::{
    cli::Options,
    plan::{Kind, Plan},
};

/// So many are enough for one run.
const MOST: usize = 10;

/// Copies what is known of the round to a folder that stays, if judges of dlock objected.
pub(super) fn histories(options: &Options, plan: &Plan, outcome: &Outcome) -> Option<PathBuf> {
    if plan.draw.kind != Kind::Dlock || outcome.verdict.violations.is_empty() {
        return None;
    }
    let all = Path::new(&options.output).join("objections");
    let count = fs::read_dir(&all).map_or(0, Iterator::count);
    if count >= MOST {
        return None;
    }
    let name = format!("{}-round-{}", options.name(), plan.draw.round);
    let folder = all.join(name);
    copy(plan, outcome, &folder).expect("the folder for figures is writable");
    Some(folder)
}

fn copy(plan: &Plan, outcome: &Outcome, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let violations = outcome.verdict.violations.iter();
    let lines: Vec<String> = violations
        .map(|violation| format!("{}: {}", violation.promise, violation.story))
        .collect();
    fs::write(folder.join("objections"), lines.join("\n"))?;
    fs::write(folder.join("plan"), format!("{plan:#?}\n"))?;
    fs::write(folder.join("faults"), &outcome.known.log)?;
    for entry in fs::read_dir(&outcome.folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}
