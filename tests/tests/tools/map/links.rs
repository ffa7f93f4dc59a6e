//! What the pages of documentation link to and name.

use std::path::{Path, PathBuf};

use crate::map::files::PACKAGE;

/// From the package's folder.
pub(crate) const PAGES: [&str; 7] = [
    "../README.md",
    "../CONTRIBUTING.md",
    "README.md",
    "GUARANTEES.md",
    "sim/README.md",
    "soak/README.md",
    "../examples/README.md",
];

/// Pages whose code names files, and the folders from which it does.
pub(crate) const NAMING: [&str; 6] = [
    "../DESIGN.md",
    "../README.md",
    "../CONTRIBUTING.md",
    "README.md",
    "sim/README.md",
    "soak/README.md",
];
const FOLDERS: [&str; 3] = ["..", "../dlock/src", "tests"];

/// The files and folders that a page links to, and the heading in the file if the link names one.
pub(crate) fn links(page: &str) -> Vec<(PathBuf, Option<String>)> {
    let page = Path::new(PACKAGE).join(page);
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let folder = page.parent().expect("a page is in a folder");
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://"))
        .map(|link| match link.split_once('#') {
            Some((file, heading)) => (folder.join(file), Some(heading.to_owned())),
            None => (folder.join(link), None),
        })
        .collect()
}

/// Whether a page has a heading that the link `#anchor` leads to.
pub(crate) fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(anchor_of).any(|found| found == anchor)
}

/// As GitHub and rustdoc make it: small letters, digits, and `-` for spaces.
fn anchor_of(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// What looks like a path in the code of a page: it has a slash, and nothing that paths here do not have.
pub(crate) fn paths(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(PACKAGE).join(page)).expect("the page is there");
    let is_path = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        word.contains('/') && !word.starts_with('/') && word.chars().all(plain)
    };
    let mut code = Vec::new();
    for (at, block) in text.split("```").enumerate() {
        if at % 2 == 1 {
            // What people type.
            code.extend(
                block
                    .split_whitespace()
                    .filter(|word| word.starts_with("scripts/")),
            );
        } else {
            let inline = block.split('`').skip(1).step_by(2);
            code.extend(inline.filter_map(|code| code.split_whitespace().next()));
        }
    }
    code.into_iter()
        .filter(is_path)
        .map(str::to_owned)
        .collect()
}

/// Whether a path that a page names is there, be it the name of a module.
pub(crate) fn exists(path: &str) -> bool {
    let there = |name: &str| {
        let there = |folder: &str| Path::new(PACKAGE).join(folder).join(name).exists();
        FOLDERS.iter().any(|folder| there(folder))
    };
    there(path) || there(&format!("{path}.rs"))
}
