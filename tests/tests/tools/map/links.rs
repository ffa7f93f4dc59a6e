//! What the pages of documentation link to.

use std::path::{Path, PathBuf};

use crate::files::PACKAGE;

/// From the package's folder.
pub(crate) const PAGES: [&str; 3] = ["../README.md", "README.md", "../examples/README.md"];

/// The files and folders that a page links to.
pub(crate) fn links(page: &str) -> Vec<PathBuf> {
    let page = Path::new(PACKAGE).join(page);
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let folder = page.parent().expect("a page is in a folder");
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://"))
        .map(|link| folder.join(link))
        .collect()
}
