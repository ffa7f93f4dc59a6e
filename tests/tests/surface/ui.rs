//! What the attribute says about what it does not accept. What it accepts is in `accepted/`.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test -p dlock-tests --test ui`, then read the diff.

#[test]
fn every_fault_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/surface/ui/*.rs");
}

/// What the compiler suggests to write has to be there for users.
#[test]
fn no_suggestion_names_what_is_private() {
    let mut messages = 0;
    for entry in std::fs::read_dir("tests/surface/ui").expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path
            .extension()
            .is_none_or(|extension| extension != "stderr")
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        for line in text.lines().filter(|line| line.contains("__private")) {
            let where_it_is_asked = line.starts_with("note: required by a bound in");
            assert!(where_it_is_asked, "{}: {line}", path.display());
        }
        messages += text
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
    }
    assert!(messages > 120, "only {messages}");
}
