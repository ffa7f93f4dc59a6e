//! The documents and the comments are in plain English, as far as a program can tell.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The pages that users, operators and contributors read.
const PAGES: [&str; 18] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DESIGN.md",
    "SECURITY.md",
    "dlock/src/attribute/distributed_lock.md",
    "dlock/src/guide/benchmarks.md",
    "dlock/src/guide/configuration.md",
    "dlock/src/guide/guarantees.md",
    "dlock/src/guide/operations.md",
    "dlock/src/guide/services.md",
    "examples/README.md",
    "tests/README.md",
    "tests/GUARANTEES.md",
    "tests/RESULTS.md",
    "tests/interop/README.md",
    "tests/sim/README.md",
    "tests/soak/README.md",
];

/// Words without a subject that a reader could name, or with a plainer word.
const AVOIDED: [&str; 9] = [
    "anybody",
    "everybody",
    "nobody",
    "somebody",
    "whoever",
    "besides",
    "mended",
    "taught",
    "whom",
];

/// First words of a sentence that lacks a noun.
const HEADLESS: [&str; 3] = ["Who", "Those", "The same"];

/// First words of a comment that only points at something.
const POINTING: [&str; 2] = ["What is", "That of"];

/// The folders of code, and those in them without code of ours.
const CODE: [&str; 4] = ["dlock", "dlock-macros", "tests", "examples"];
const OTHERS: [&str; 3] = ["target", "mutants", "expansions"];

/// The most words in a sentence.
const LONGEST: usize = 35;

/// The sentences of a page, without its code. A cell of a table and an item of a list are sentences of their own.
fn sentences(page: &str) -> Vec<String> {
    let mut units = vec![String::new()];
    let mut code = false;
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            code = !code;
        }
        let begins = line.is_empty() || line.starts_with(['*', '-', '#', '|', '>', '`']);
        if begins || code {
            units.push(String::new());
        }
        if code || line.starts_with("```") {
            continue;
        }
        for (at, cell) in line.split(" | ").enumerate() {
            if at > 0 {
                units.push(String::new());
            }
            let unit = units.last_mut().expect("there is a first one");
            unit.push(' ');
            unit.push_str(cell);
        }
    }
    units
        .iter()
        .flat_map(|unit| split(&without_code(unit)))
        .collect()
}

/// A text whose inline code is one word each.
fn without_code(text: &str) -> String {
    let mut parts = text.split('`');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        plain.push_str(if at % 2 == 0 { "code" } else { part });
    }
    plain
}

fn split(text: &str) -> Vec<String> {
    let mut sentences = vec![Vec::new()];
    for word in text.split_whitespace() {
        sentences
            .last_mut()
            .expect("there is a first one")
            .push(word);
        if word.ends_with(['.', ':', ';', '?', '!']) {
            sentences.push(Vec::new());
        }
    }
    sentences.iter().map(|words| words.join(" ")).collect()
}

fn objections(sentence: &str) -> Vec<String> {
    let plain = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut objections = Vec::new();
    if words.len() > LONGEST {
        objections.push(format!("{} words", words.len()));
    }
    for word in &words {
        let word = word
            .trim_matches(|c: char| !c.is_alphabetic())
            .to_lowercase();
        if AVOIDED.contains(&word.as_str()) {
            objections.push(format!("`{word}`"));
        }
    }
    if HEADLESS
        .iter()
        .any(|first| plain.starts_with(&format!("{first} ")))
    {
        objections.push("it begins without a noun".to_owned());
    }
    objections
}

/// The comments of a file, as a page.
fn comments(code: &str) -> String {
    let text = |line: &str| {
        let marks = ["//!", "///", "//", "--"];
        let text = marks.iter().find_map(|mark| line.trim().strip_prefix(mark));
        text.unwrap_or_default().to_owned()
    };
    code.lines().map(text).collect::<Vec<_>>().join("\n")
}

/// The files of code below `folder`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let is_others = OTHERS.iter().any(|other| path.ends_with(other));
        if path.is_dir() && !is_others {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|ext| ext == "rs" || ext == "lua")
        {
            found.push(path);
        }
    }
}

#[test]
fn every_sentence_of_the_comments_has_a_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for folder in CODE {
        files(&root.join(folder), &mut paths);
    }
    assert!(paths.len() > 500, "{} files of code", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let code = read_to_string(&path).expect("a file of code");
        for sentence in sentences(&comments(&code)) {
            let points = POINTING.iter().any(|words| sentence.starts_with(words));
            let mut objections = objections(&sentence);
            objections.retain(|one| !one.ends_with(" words"));
            if points || !objections.is_empty() {
                found.push(format!("{}: {sentence}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_sentence_of_the_documents_is_short_and_has_a_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for page in PAGES {
        let text = read_to_string(root.join(page)).expect(page);
        for sentence in sentences(&text) {
            let objections = objections(&sentence);
            if !objections.is_empty() {
                found.push(format!("{page}: {}: {sentence}", objections.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_sentence_that_is_long_or_has_no_subject_is_found() {
    let page = "A lock. Who waits\nis told.\n\n* Nobody gets in\n\n```\nsomebody\n```\n";
    let found: Vec<_> = sentences(page)
        .iter()
        .flat_map(|sentence| objections(sentence))
        .collect();
    assert_eq!(found, ["it begins without a noun", "`nobody`"]);
    let long = "word ".repeat(LONGEST + 1);
    assert_eq!(objections(&long), ["36 words"]);
}
