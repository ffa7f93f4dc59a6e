//! The files of this package.

use std::{collections::BTreeSet, path::Path};

pub(crate) const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
/// What the names of folders under `tests/tests` can say that a test proves.
pub(crate) const GROUPS: [&str; 5] = ["faults", "guarantees", "store", "surface", "tools"];

/// A file or a folder of tests: a module of its group's program, or a program of its own.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// From the package's folder.
    pub(crate) path: String,
}

impl Part {
    fn group(&self) -> &str {
        self.path.split('/').nth(1).expect("a group")
    }

    /// What `tests/GUARANTEES.md` calls it.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.group(), self.name)
    }

    /// The program of its group.
    pub(crate) fn program(&self) -> String {
        format!("tests/{}/main.rs", self.group())
    }

    /// The names of the tests in its files.
    pub(crate) fn tests(&self) -> BTreeSet<String> {
        let folder = self.path.strip_suffix("/main.rs");
        let files = match folder.or(self.path.strip_suffix("/mod.rs")) {
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

/// All files of the groups, and all folders in them with a `main.rs` or a `mod.rs`.
pub(crate) fn parts() -> Vec<Part> {
    assert_eq!(entries("tests"), GROUPS, "a test has a group");
    let mut parts = Vec::new();
    for group in GROUPS {
        for entry in entries(&format!("tests/{group}")) {
            let path = format!("tests/{group}/{entry}");
            let (name, paths) = match entry.strip_suffix(".rs") {
                Some("main") => continue,
                Some(name) => (name.to_owned(), vec![path]),
                None => {
                    let of_a_folder = ["main.rs", "mod.rs"].map(|file| format!("{path}/{file}"));
                    (entry, of_a_folder.to_vec())
                }
            };
            let mut there = paths
                .into_iter()
                .filter(|path| Path::new(PACKAGE).join(path).exists());
            if let Some(path) = there.next() {
                parts.push(Part { name, path });
            }
        }
    }
    parts
}
