//! What the guide guarantees, and what the map of the tests says about it.

use std::path::Path;

use crate::map::files::PACKAGE;

/// A part of the guide's guarantees, and what is said to show it.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    pub(crate) quote: String,
    /// `group/program` and the names of tests in it.
    pub(crate) tests: Vec<(String, Vec<String>)>,
    /// Judges who look at it in every seed of the simulation, and in every round of the soak.
    pub(crate) seeds: Vec<String>,
    pub(crate) soak: Vec<String>,
    /// Known mistakes that break it.
    pub(crate) mutants: Vec<String>,
    /// Why there are none.
    pub(crate) reason: Option<String>,
}

/// All words, with one space between any two.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(path: &str) -> String {
    let path = Path::new(PACKAGE).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Each item of the guide's list of guarantees, in one line.
pub(crate) fn guarantees() -> Vec<String> {
    let guide = read("../dlock/src/guide/guarantees.md");
    let (_, section) = guide
        .split_once("\n# Guarantees and their limits\n")
        .expect("the guide has the section");
    let list = section.trim_start().split("\n\n").next();
    let items = list.expect("it has a list").split("\n* ");
    items
        .map(|item| words(item.trim_start_matches("* ")))
        .collect()
}

/// The map, part by part. A paragraph that quotes is followed by a list.
pub(crate) fn map() -> Vec<Mapped> {
    let map = read("GUARANTEES.md");
    let mut parts: Vec<Mapped> = Vec::new();
    for paragraph in map.split("\n\n") {
        if paragraph.starts_with("> ") {
            let quote: String = paragraph.replace("\n> ", "\n");
            parts.push(Mapped {
                quote: words(quote.trim_start_matches("> ")),
                ..Mapped::default()
            });
        } else if let (Some(list), Some(part)) = (paragraph.strip_prefix("- "), parts.last_mut()) {
            for item in list.split("\n- ") {
                match item.split_once(": ") {
                    Some(("No test", reason)) => part.reason = Some(words(reason)),
                    Some(("Seeds", judges)) => part.seeds = names(judges),
                    Some(("Soak", judges)) => part.soak = names(judges),
                    Some(("Mutants", mutants)) => part.mutants = names(mutants),
                    _ => part.tests.push(tests(item)),
                }
            }
        }
    }
    parts
}

/// An item like `` `group/program`: `test`, `test` ``.
fn tests(item: &str) -> (String, Vec<String>) {
    let mut names = names(item).into_iter();
    let program = names.next();
    (program.expect("a program's name"), names.collect())
}

/// What stands in back quotes.
fn names(item: &str) -> Vec<String> {
    item.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
