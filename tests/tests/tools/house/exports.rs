//! The crate's public items, and the table of `DESIGN.md` that says why each has its name.

use std::collections::BTreeSet;

use dlock_tests::house::{read, section};

/// The modules that declare public items.
const MODULES: [&str; 4] = ["lib.rs", "blocking/mod.rs", "metrics/mod.rs", "testing.rs"];

/// The items that sources export. What follows the hidden modules of `lib.rs` is not public.
pub(crate) fn exported() -> BTreeSet<String> {
    let sources = MODULES.map(|module| read(&format!("dlock/src/{module}")));
    let public = sources.iter().flat_map(|source| {
        let public = source.split("pub mod __internals").next().unwrap_or(source);
        // A struct that a macro completes is indented.
        let indented = |line: &&str| line.starts_with("    pub struct ");
        public
            .lines()
            .filter(move |line| line.starts_with("pub ") || indented(line))
    });
    public
        .flat_map(names)
        .filter(|name| name != "sim")
        .collect()
}

/// The names that a line declares: `pub mod a;`, `pub use b::c;`, `pub use d::{E, f};`, `pub struct G`, `pub fn h`.
///
/// # Panics
/// If it declares an item in another way, which the table could not be compared with.
pub(crate) fn names(line: &str) -> Vec<String> {
    let line = line.trim_start();
    if let Some(item) = ["pub struct ", "pub fn "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
    {
        let ends = |c: char| !c.is_alphanumeric() && c != '_';
        return item.split(ends).take(1).map(str::to_owned).collect();
    }
    let path = ["pub mod ", "pub use "].map(|word| line.strip_prefix(word));
    let path = path.into_iter().flatten().next();
    let path = path.filter(|_| line.ends_with([';', '}']));
    let path = path.unwrap_or_else(|| {
        panic!("`{line}` is no whole `pub mod` or `pub use`, no `pub struct` and no `pub fn`")
    });
    let last = path
        .trim_end_matches(';')
        .rsplit("::")
        .next()
        .unwrap_or(path);
    let last = last.trim_matches(['{', '}']).split(',');
    last.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The names in the first column of the first table of the section.
pub(crate) fn justified() -> BTreeSet<String> {
    let design = read("DESIGN.md");
    let section = section(&design, "Public names");
    let table = section.split("| method |").next().unwrap_or(section);
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let columns = rows.filter_map(|row| row.split(" |").next());
    columns
        .flat_map(|column| column.split([' ', '`']))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}
