//! Which room imports from which.

use std::collections::{BTreeMap, BTreeSet};

use dlock_tests::house::Table;
use proc_macro2::TokenStream;

use crate::house::paths::{Found, Path, Place, Spelled, find};

/// Sources by their names from `dlock/src`.
pub(crate) type Sources = BTreeMap<String, String>;

/// An import that leaves a room.
#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Of unit tests and models, which keep no line of the table alive.
    pub(crate) test: bool,
    /// The imports between modules.
    pub(crate) what: String,
}

/// The modules of the crate.
#[derive(Debug, Default)]
struct Modules {
    known: BTreeSet<Path>,
    tests: Vec<Path>,
    /// What a module calls something from elsewhere.
    aliases: BTreeMap<(Path, String), Path>,
    spelled: Vec<Spelled>,
}

/// The module that a file is.
fn module_of(file: &str) -> Path {
    let name = file.strip_suffix(".rs").expect("a source");
    let mut module: Path = name.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

impl Modules {
    fn read(sources: &Sources) -> Self {
        let mut modules = Self::default();
        for (file, text) in sources {
            let place = Place {
                module: module_of(file),
                test: false,
            };
            let tokens: TokenStream = text.parse().expect("sources are made of tokens");
            let mut found = Found::default();
            find(tokens, &place, &mut found);
            modules.known.insert(place.module);
            modules.known.extend(found.inner);
            modules.tests.extend(found.tests);
            modules.spelled.extend(found.spelled);
        }
        for spelled in &modules.spelled {
            if let Some(alias) = &spelled.alias {
                let name = (spelled.module.clone(), alias.clone());
                if spelled.path != [&spelled.module[..], std::slice::from_ref(alias)].concat() {
                    modules.aliases.insert(name, spelled.path.clone());
                }
            }
        }
        modules
    }

    /// The module that a path leads to, for one who spells it in `from`: what a module above `from` has from elsewhere is
    /// looked for there, and what any other one has, counts for that.
    fn target(&self, path: &Path, from: &Path) -> Path {
        let mut module = Path::new();
        for (at, name) in path.iter().enumerate() {
            let inner = [&module[..], std::slice::from_ref(name)].concat();
            if self.known.contains(&inner) {
                module = inner;
                continue;
            }
            let alias = self.aliases.get(&(module.clone(), name.clone()));
            if let (Some(alias), true) = (alias, from.starts_with(&module)) {
                return self.target(&[&alias[..], &path[at + 1..]].concat(), from);
            }
            break;
        }
        module
    }
}

/// Every arrow between two rooms. The root is in no room: it shows what is public.
pub(crate) fn arrows(sources: &Sources, table: &Table) -> Vec<Arrow> {
    let modules = Modules::read(sources);
    let mut arrows = Vec::new();
    for spelled in &modules.spelled {
        let target = modules.target(&spelled.path, &spelled.module);
        let is_root = |module: &Path| module.first().is_none_or(|name| name.starts_with("__"));
        if is_root(&spelled.module) || is_root(&target) {
            continue;
        }
        let room = |module: &Path| {
            let room = table.room_of(module);
            room.unwrap_or_else(|| panic!("{} is in no room of DESIGN.md", module.join("/")))
        };
        let (from, to) = (room(&spelled.module), room(&target));
        if from != to {
            let in_tests = |tests: &Path| spelled.module.starts_with(tests);
            arrows.push(Arrow {
                from,
                to,
                test: spelled.test || modules.tests.iter().any(in_tests),
                what: format!(
                    "{} imports {}",
                    spelled.module.join("/"),
                    spelled.path.join("::")
                ),
            });
        }
    }
    arrows
}

/// The modules that know the redis crate.
pub(crate) fn users_of_redis(sources: &Sources) -> BTreeSet<String> {
    let modules = Modules::read(sources);
    let knows = |spelled: &&Spelled| {
        let Spelled { module, path, .. } = *spelled;
        let own = (module.clone(), "redis".to_owned());
        let inner = [&module[..], std::slice::from_ref(&own.1)].concat();
        path.starts_with(&inner)
            && !modules.known.contains(&inner)
            && !modules.aliases.contains_key(&own)
    };
    let users = modules.spelled.iter().filter(knows);
    users.map(|spelled| spelled.module.join("/")).collect()
}

/// The arrows that the table does not allow. Tests may import whatever is further down.
pub(crate) fn forbidden(arrows: &[Arrow], table: &Table) -> Vec<String> {
    let allowed =
        |arrow: &Arrow| table.allows(arrow.from, arrow.to) || arrow.test && arrow.from < arrow.to;
    let forbidden = arrows.iter().filter(|arrow| !allowed(arrow));
    let named = |arrow: &Arrow| {
        let (from, to) = (&table.rooms[arrow.from], &table.rooms[arrow.to]);
        format!("{} -> {}: {}", from.name, to.name, arrow.what)
    };
    forbidden.map(named).collect()
}

/// Imports that the table allows and no file has.
pub(crate) fn idle(arrows: &[Arrow], table: &Table) -> Vec<String> {
    let used: BTreeSet<(usize, usize)> = arrows
        .iter()
        .filter(|arrow| !arrow.test)
        .map(|arrow| (arrow.from, arrow.to))
        .collect();
    let mut idle = Vec::new();
    for (at, room) in table.rooms.iter().enumerate() {
        let name = &room.name;
        for import in &room.imports {
            if !used.contains(&(at, *import)) {
                idle.push(format!("{name} -> {}", table.rooms[*import].name));
            }
        }
        let a_leaf = |(from, to): &(usize, usize)| *from == at && *to >= table.first_leaf;
        if room.leaves && !used.iter().any(a_leaf) {
            idle.push(format!("{name} -> leaves"));
        }
    }
    idle
}

/// Modules that the table names and that are not there.
pub(crate) fn missing(sources: &Sources, table: &Table) -> Vec<String> {
    let there: BTreeSet<String> = sources
        .keys()
        .map(|file| module_of(file).join("/"))
        .collect();
    let named = table.rooms.iter().map(|room| room.name.clone());
    named.filter(|name| !there.contains(name)).collect()
}
