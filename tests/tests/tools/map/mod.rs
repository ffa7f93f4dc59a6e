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
    files::{GROUPS, PACKAGE, parts},
    guarantees::{guarantees, map},
    judges::{judges, mutants},
    links::{NAMING, PAGES, exists, has_heading, links, paths},
};

#[test]
fn every_file_of_tests_is_part_of_one_program() {
    let read = |path: &str| std::fs::read_to_string(Path::new(PACKAGE).join(path));
    let manifest = read("Cargo.toml").expect("the package has a manifest");
    let mut alone = GROUPS.len();
    for part in parts() {
        let (name, path) = (&part.name, &part.path);
        let row = format!("{{ name = \"{name}\", path = \"{path}\" }},");
        let group = read(&part.program()).expect("each group has a program");
        let is_module = group.lines().any(|line| line == format!("mod {name};"));
        assert_ne!(
            is_module,
            manifest.contains(&row),
            "{path} is in both or none of {} and Cargo.toml",
            part.program()
        );
        alone += usize::from(!is_module);
    }
    let declared = manifest.matches("path = \"tests/").count();
    assert_eq!(declared, alone, "declared and not there");
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
    let known: BTreeMap<_, _> = parts()
        .iter()
        .map(|part| (part.title(), part.tests()))
        .collect();
    for part in map() {
        let quote = &part.quote;
        let has_reason = part.reason.is_some();
        assert_eq!(part.tests.is_empty(), has_reason, "{quote}");
        for (title, tests) in &part.tests {
            let Some(known) = known.get(title) else {
                panic!("{quote}: there is no {title}");
            };
            assert!(!tests.is_empty(), "{quote}: no test of {title}");
            for test in tests {
                assert!(known.contains(test), "{quote}: no {test} in {title}");
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
