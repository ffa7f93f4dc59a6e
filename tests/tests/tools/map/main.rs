//! Nothing here is forgotten: each file of tests runs.

mod files;

use std::path::Path;

use self::files::{PACKAGE, programs};

#[test]
fn every_program_of_tests_is_declared() {
    let manifest = Path::new(PACKAGE).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("the package has a manifest");
    let programs = programs();
    for program in &programs {
        let row = format!(
            "{{ name = \"{}\", path = \"{}\" }},",
            program.name, program.path
        );
        assert!(manifest.contains(&row), "tests/Cargo.toml lacks: {row}");
    }
    let declared = manifest.matches("path = \"tests/").count();
    assert_eq!(declared, programs.len(), "declared and not there");
}
