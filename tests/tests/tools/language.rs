//! The documents are in plain English, as far as a program can tell.

use std::path::Path;

/// The pages that users and operators read.
const PAGES: [&str; 16] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
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

#[test]
fn every_sentence_of_the_documents_is_short_and_has_a_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for page in PAGES {
        let text = std::fs::read_to_string(root.join(page)).expect(page);
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
