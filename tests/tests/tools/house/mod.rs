//! The house stands as `DESIGN.md` says: imports run one way, the drawing is that of the table, walks lead past functions
//! that exist, files are short.

mod arrows;
mod exports;
mod paths;
mod sources;
mod walks;

use std::collections::BTreeSet;

use dlock_tests::house::{Table, drawing, in_repository, read, replace_drawing, section};

use self::{
    arrows::{arrows, forbidden, idle, missing, users_of_redis},
    walks::{has_function, walks},
};

/// The longest file of `dlock/src`, and the longest that half of them may be.
const LONGEST: usize = 500;
const MEDIAN: usize = 175;
/// The longest walk.
const STEPS: usize = 10;
/// How many words a newcomer has to learn.
const NOUNS: usize = 15;

fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn imports_run_one_way_as_the_table_says() {
    let (sources, table) = (sources::library(), Table::of_the_design());
    let arrows = arrows(&sources, &table);
    assert!(arrows.len() > 300, "only {} are found", arrows.len());
    none("not in the table", &forbidden(&arrows, &table));
    none("in the table, and nobody does", &idle(&arrows, &table));
    none("in the table, and not there", &missing(&sources, &table));
}

#[test]
fn arrows_that_run_back_up_are_noticed() {
    let table = Table::of_the_design();
    for (file, import) in [
        ("store/seeded.rs", "use crate::client::Client;"),
        ("store/seeded.rs", "use crate::{Error, Client};"),
        (
            "store/redis/wire/seeded.rs",
            "use super::super::node::Node;",
        ),
        (
            "store/redis/node/seeded.rs",
            "use super::super::NodeId as N, super::super::topology;",
        ),
        ("hold/seeded.rs", "fn lose(gates: &crate::lock::Share) {}"),
        (
            "hold/seeded.rs",
            "select! { _ = crate::lock::wait() => {} }",
        ),
        (
            "lock/gate/seeded.rs",
            "mod inner { use super::super::super::Commons; }",
        ),
        ("error/seeded.rs", "use crate::key::{LockKey as Key};"),
        (
            "protocol/seeded.rs",
            "#[cfg(test)] mod tests { use crate::store::Store; }",
        ),
    ] {
        let mut sources = sources::library();
        sources.insert(file.to_owned(), import.to_owned());
        let found = forbidden(&arrows(&sources, &table), &table);
        assert_eq!(found.len(), 1, "{file}: {import}: {found:?}");
    }
}

#[test]
fn what_is_no_import_is_not_taken_for_one() {
    let table = Table::of_the_design();
    let mut sources = sources::library();
    let seeded = r#"
        //! As [`Client`](crate::client::Client).
        pub(in crate::hold) const SAYS: &str = "use crate::client::Client;"; // crate::client::Client
        use super::hold::Hold;
    "#;
    sources.insert("hold/seeded.rs".to_owned(), seeded.to_owned());
    none("found", &forbidden(&arrows(&sources, &table), &table));
}

#[test]
fn a_line_of_the_table_that_nobody_uses_is_noticed() {
    let sources = sources::library();
    let mut table = Table::of_the_design();
    let (top, wire) = (table.at("blocking"), table.at("store/redis/wire"));
    table.rooms[top].imports.push(wire);
    let idle = idle(&arrows(&sources, &table), &table);
    assert_eq!(idle, ["blocking -> store/redis/wire"]);
    table.rooms[top].name = "cellar".to_owned();
    assert_eq!(missing(&sources, &table), ["cellar"]);
}

#[test]
fn a_table_that_runs_back_up_is_refused() {
    let head = "| room | is for | imports |\n|---|---|---|\n";
    let table = |rows: &str| Table::parse(&format!("{head}{rows}| leaves | | |\n| `c` | | |\n"));
    assert!(table("| `a` | | `b` leaves |\n| `b` | | `c` |\n").is_ok());
    for rows in [
        "| `a` | | |\n| `b` | | `a` |\n",
        "| `a` | | `a` |\n",
        "| `a` | | `x` |\n",
    ] {
        assert!(table(rows).is_err(), "{rows}");
    }
}

#[test]
fn two_rooms_know_the_redis_crate() {
    let mut sources = sources::library();
    let rooms = ["store/redis/node/", "store/redis/wire/"];
    let strangers = |sources: &_| {
        let mut users = users_of_redis(sources);
        users.retain(|user| {
            !rooms
                .iter()
                .any(|room| format!("{user}/").starts_with(room))
        });
        users.into_iter().collect::<Vec<_>>()
    };
    none("know it too", &strangers(&sources));
    sources.insert(
        "lock/seeded.rs".to_owned(),
        "type V = redis::Value;".to_owned(),
    );
    assert_eq!(strangers(&sources), ["lock/seeded"]);
}

#[test]
fn the_drawing_is_that_of_the_table() {
    let design = read("DESIGN.md");
    let fresh = replace_drawing(&design, &drawing(&Table::of_the_design()));
    assert!(
        design == fresh,
        "DESIGN.md: `scripts/map --write` draws it anew"
    );
}

#[test]
fn the_words_are_those_of_the_room_that_uses_them() {
    let design = read("DESIGN.md");
    let bold = section(&design, "The words").split("**").skip(1).step_by(2);
    let room = read("dlock/src/lock/mod.rs");
    let rows = room.lines().filter_map(|line| line.strip_prefix("//! | "));
    let nouns = rows.skip(1).filter_map(|row| row.split(' ').next());
    let (bold, nouns): (BTreeSet<&str>, BTreeSet<&str>) = (bold.collect(), nouns.collect());
    assert_eq!(bold, nouns, "DESIGN.md (left) and lock/mod.rs");
    assert!(nouns.len() <= NOUNS, "{} nouns", nouns.len());
}

#[test]
fn each_public_item_has_a_line_that_says_why() {
    let (exported, justified) = (exports::exported(), exports::justified());
    assert!(exported.len() > 40, "only {} are found", exported.len());
    assert_eq!(exported, justified, "the sources (left) and DESIGN.md");
    let declared = exports::names("pub use error::{Error, ErrorKind};");
    assert_eq!(declared, ["Error", "ErrorKind"]);
}

#[test]
fn walks_lead_past_functions_that_exist() {
    let walks = walks();
    assert!(!walks.is_empty(), "DESIGN.md has walks");
    for walk in walks {
        let title = &walk.title;
        assert!(walk.lines <= STEPS, "{title}: {} lines", walk.lines);
        assert!(!walk.steps.is_empty(), "{title}: names no function");
        for (file, function) in walk.steps {
            let paths = [format!("dlock/src/{file}"), file.clone()];
            let path = paths.iter().find(|path| in_repository(path).exists());
            let path = path.unwrap_or_else(|| panic!("{title}: there is no {file}"));
            let found = has_function(&read(path), &function);
            assert!(found, "{title}: {file} has no {function}");
        }
    }
}

#[test]
fn files_are_short() {
    let sources = sources::all();
    let mut lengths: Vec<(usize, &String)> = sources
        .iter()
        .map(|(file, text)| (text.lines().count(), file))
        .collect();
    lengths.sort_unstable();
    let (longest, file) = lengths[lengths.len() - 1];
    assert!(longest <= LONGEST, "{file} has {longest} lines");
    let (median, _) = lengths[lengths.len() / 2];
    assert!(
        median <= MEDIAN,
        "half of the files have {median} lines and more"
    );
}
