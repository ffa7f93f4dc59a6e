//! The modules of `dlock/src` and the imports between them that `DESIGN.md` allows: its table, and the drawing made of
//! it.

mod drawing;
mod table;

pub use drawing::{drawing, replace_drawing};
pub use table::{Room, Table};

use std::path::{Path, PathBuf};

/// A file or folder of the repository.
#[must_use]
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// What a file of the repository says.
#[must_use]
pub fn read(path: &str) -> String {
    let path = in_repository(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The section of a page, without its heading.
#[must_use]
pub fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, section) = page
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("the page has a section `{heading}`"));
    section.split("\n## ").next().unwrap_or(section)
}
