//! What the attribute accepts, and what it says about the rest.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test -p dlock-tests --test ui`, then read the diff.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
