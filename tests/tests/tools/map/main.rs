//! Nothing is forgotten: each file of tests runs, each guarantee of the guide has tests that show it, links lead
//! somewhere, and files that the documents name are there.

mod files;
mod guarantees;
mod judges;
mod links;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use self::{
    files::{PACKAGE, programs},
    guarantees::{guarantees, map},
    judges::{judges, mutants},
    links::{NAMING, PAGES, exists, has_heading, links, paths},
};

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

#[test]
fn every_guarantee_is_mapped_as_the_guide_says_it() {
    let mut parts = map().into_iter().map(|part| part.quote);
    for guarantee in guarantees() {
        let mut mapped = String::new();
        while mapped.len() < guarantee.len() {
            let Some(quote) = parts.next() else { break };
            let space = if mapped.is_empty() { "" } else { " " };
            mapped = format!("{mapped}{space}{quote}");
        }
        assert_eq!(
            mapped, guarantee,
            "tests/GUARANTEES.md (left) is not guarantees.md"
        );
    }
    assert_eq!(parts.next(), None, "the guide does not say so");
}

#[test]
fn every_guarantee_has_tests_that_exist_or_a_reason_why_not() {
    let known: BTreeMap<_, _> = programs()
        .iter()
        .map(|program| (program.title(), program.tests()))
        .collect();
    for part in map() {
        let quote = &part.quote;
        let has_reason = part.reason.is_some();
        assert_eq!(part.tests.is_empty(), has_reason, "{quote}");
        for (program, tests) in &part.tests {
            let Some(known) = known.get(program) else {
                panic!("{quote}: there is no {program}");
            };
            assert!(!tests.is_empty(), "{quote}: no test of {program}");
            for test in tests {
                assert!(known.contains(test), "{quote}: no {test} in {program}");
            }
        }
    }
}

#[test]
fn every_judge_and_every_mutant_that_is_named_exists_and_none_is_forgotten() {
    let (mut seeds, mut soak, mut mistakes) = <(BTreeSet<_>, BTreeSet<_>, BTreeSet<_>)>::default();
    for part in map() {
        seeds.extend(part.seeds);
        soak.extend(part.soak);
        mistakes.extend(part.mutants);
    }
    assert_eq!(
        seeds,
        judges("sim/src"),
        "named (left), and in the simulation"
    );
    assert_eq!(soak, judges("soak/src"), "named (left), and in the soak");
    assert_eq!(mistakes, mutants(), "named (left), and in tests/mutants");
}

#[test]
fn every_link_leads_somewhere() {
    for page in PAGES {
        let links = links(page);
        assert!(!links.is_empty(), "{page} has links");
        for (link, heading) in links {
            assert!(link.exists(), "{page}: {}", link.display());
            if let Some(heading) = heading {
                let place = format!("{}#{heading}", link.display());
                assert!(has_heading(&link, &heading), "{page}: {place}");
            }
        }
    }
}

#[test]
fn every_path_that_is_named_exists() {
    for page in NAMING {
        let paths = paths(page);
        assert!(!paths.is_empty(), "{page} names files");
        for path in paths {
            assert!(exists(&path), "{page}: there is no {path}");
        }
    }
    assert!(!exists("lock/cellar.rs"));
}
