//! Judges and known mistakes.

use std::{collections::BTreeSet, fs, path::Path};

use crate::map::files::PACKAGE;

/// Tests that are not about a promise: a program that ends where it should not.
const ENDS: [&str; 2] = ["panic", "crash"];

/// The promises that judges below a folder say are broken.
pub(crate) fn judges(folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    look(&Path::new(PACKAGE).join(folder), &mut found);
    assert!(!found.is_empty(), "no judges in {folder}");
    found.retain(|judge| !ENDS.contains(&judge.as_str()));
    found
}

fn look(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            look(&path, found);
        } else {
            let text = fs::read_to_string(&path).expect("sources are text");
            let objections = text.split("object(").skip(1);
            let promises = objections.filter_map(|rest| rest.trim_start().strip_prefix('"'));
            found.extend(promises.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
    }
}

/// The names of all known mistakes.
pub(crate) fn mutants() -> BTreeSet<String> {
    let folder = Path::new(PACKAGE).join("mutants");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("the folder can be read").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    names
        .filter_map(|name| Some(name.strip_suffix(".patch")?.to_owned()))
        .collect()
}
