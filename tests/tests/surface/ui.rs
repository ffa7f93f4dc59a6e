//! What the attribute says about what it does not accept. What it accepts is in `accepted/`.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test -p dlock-tests --test ui`, then read the diff.

#[test]
fn every_fault_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/surface/ui/*.rs");
}
