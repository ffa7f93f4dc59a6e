//! The files of this package.

use std::{collections::BTreeSet, path::Path};

pub(crate) const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
/// What the names of folders under `tests/tests` can say that a test proves.
const GROUPS: [&str; 5] = ["faults", "guarantees", "store", "surface", "tools"];

/// One program of tests.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// From the package's folder.
    pub(crate) path: String,
}

impl Program {
    /// What `tests/GUARANTEES.md` calls it.
    pub(crate) fn title(&self) -> String {
        let group = self.path.split('/').nth(1).expect("a group");
        format!("{group}/{}", self.name)
    }

    /// The names of the tests in its files.
    pub(crate) fn tests(&self) -> BTreeSet<String> {
        let files = match self.path.strip_suffix("/main.rs") {
            None => vec![self.path.clone()],
            Some(folder) => {
                let files = entries(folder).into_iter();
                files.map(|file| format!("{folder}/{file}")).collect()
            }
        };
        let mut tests = BTreeSet::new();
        for file in files {
            let text = std::fs::read_to_string(Path::new(PACKAGE).join(file));
            let mut is_test = false;
            for line in text.expect("sources are text").lines().map(str::trim_start) {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                let line = line.strip_prefix("async ").unwrap_or(line);
                if let (true, Some(rest)) = (is_test, line.strip_prefix("fn ")) {
                    tests.extend(rest.split('(').next().map(str::to_owned));
                    is_test = false;
                }
            }
        }
        tests
    }
}

fn entries(folder: &str) -> Vec<String> {
    let folder = Path::new(PACKAGE).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("the folder can be read").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("names are text"))
        .collect();
    names.sort();
    names
}

/// All programs: a file, or a folder with a `main.rs`, in one of the groups.
pub(crate) fn programs() -> Vec<Program> {
    assert_eq!(entries("tests"), GROUPS, "a test has a group");
    let mut programs = Vec::new();
    for group in GROUPS {
        for entry in entries(&format!("tests/{group}")) {
            let (name, path) = match entry.strip_suffix(".rs") {
                Some(name) => (name.to_owned(), format!("tests/{group}/{entry}")),
                None => (entry.clone(), format!("tests/{group}/{entry}/main.rs")),
            };
            if Path::new(PACKAGE).join(&path).exists() {
                programs.push(Program { name, path });
            }
        }
    }
    programs
}
