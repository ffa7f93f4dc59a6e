//! The scripts: their texts, and the hashes by which servers know them.

use std::sync::OnceLock;

use super::dialect::dialect;
use crate::kind::LockKind;
use crate::protocol::Op;

/// The scripts, one per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// `acquire.lua`
    Acquire,
    /// `release.lua`
    Release,
    /// `renew.lua`
    Renew,
    /// `abandon.lua`
    Abandon,
    /// `yield.lua`
    Yield,
    /// `raise.lua`
    Raise,
    /// `inspect.lua`
    Inspect,
    /// `mutex/acquire.lua`
    MutexAcquire,
    /// `mutex/release.lua`
    MutexRelease,
    /// `mutex/unlock.lua`
    MutexUnlock,
    /// `mutex/renew.lua`
    MutexRenew,
    /// `mutex/abandon.lua`
    MutexAbandon,
    /// `mutex/raise.lua`
    MutexRaise,
    /// `mutex/inspect.lua`
    MutexInspect,
}

impl Script {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Acquire,
        Self::Release,
        Self::Renew,
        Self::Abandon,
        Self::Yield,
        Self::Raise,
        Self::Inspect,
        Self::MutexAcquire,
        Self::MutexRelease,
        Self::MutexUnlock,
        Self::MutexRenew,
        Self::MutexAbandon,
        Self::MutexRaise,
        Self::MutexInspect,
    ];

    /// Whether it is about a mutex.
    #[must_use]
    pub fn is_of_mutex(self) -> bool {
        matches!(
            self,
            Self::MutexAcquire
                | Self::MutexRelease
                | Self::MutexUnlock
                | Self::MutexRenew
                | Self::MutexAbandon
                | Self::MutexRaise
                | Self::MutexInspect
        )
    }

    /// A smaller script that may be tried first, which does the same to a lock's only hold if no client waits and there is nothing
    /// else to record; 0 says that it has done nothing.
    #[must_use]
    pub fn brief(kind: LockKind, op: &Op) -> Option<Self> {
        dialect(kind).brief(op)
    }

    /// Whether it is one that may be [tried first](Self::brief).
    pub(super) fn is_brief(self) -> bool {
        self == Self::MutexUnlock
    }

    /// The script that carries out an operation on a kind of lock.
    ///
    /// # Panics
    /// For a mutex that is yielded: no client asks for that, as it is released instead.
    #[must_use]
    pub fn of(kind: LockKind, op: &Op) -> Self {
        dialect(kind).script(op)
    }
}

/// The files that several operations share, by the names that their `include` lines use.
const COMMON: [(&str, &str); 9] = [
    ("record", include_str!("../lua/common/record.lua")),
    ("commit", include_str!("../lua/common/commit.lua")),
    ("holds", include_str!("../lua/common/holds.lua")),
    ("line", include_str!("../lua/common/line.lua")),
    ("telling", include_str!("../lua/common/telling.lua")),
    ("tombs", include_str!("../lua/common/tombs.lua")),
    ("only_hold", include_str!("../lua/common/only_hold.lua")),
    ("string", include_str!("../lua/mutex/string.lua")),
    ("moments", include_str!("../lua/mutex/moments.lua")),
];

/// What begins the line in an operation's own text that names the common files it uses, in the order in which they stand in
/// the script: each uses those before it. A script has only what it uses, because a first request takes its text along, and renewals
/// must not wait behind it.
const INCLUDE: &str = "-- include: ";

/// The files that a line of a script includes, if it is a line that does.
fn included(line: &str) -> Option<impl Iterator<Item = &'static str>> {
    let names = line.strip_prefix(INCLUDE)?.split(' ');
    Some(names.map(|name| {
        let file = COMMON.iter().find(|(known, _)| *known == name);
        file.map_or_else(
            || unreachable!("no common file is called `{name}`"),
            |(_, text)| *text,
        )
    }))
}

/// A script as servers are sent it, made when it is needed for the first time.
struct Sent {
    text: String,
    /// The SHA1 of the text.
    hash: String,
}

fn sent(script: Script) -> &'static Sent {
    static SENT: [OnceLock<Sent>; Script::ALL.len()] =
        [const { OnceLock::new() }; Script::ALL.len()];
    // `ALL` lists the scripts in the order of their declaration.
    SENT[script as usize].get_or_init(|| {
        let text = compose(own_text(script));
        let hash = redis::Script::new(&text).get_hash().into();
        Sent { text, hash }
    })
}

/// The text of a script, ready to be sent.
#[must_use]
pub fn source(script: Script) -> &'static str {
    &sent(script).text
}

/// The name of a script at servers that know it.
pub(super) fn hash(script: Script) -> &'static str {
    &sent(script).hash
}

/// An operation's own text with what it includes. It is sent over each new connection that uses it, and compiled by
/// a server that does not know it: so comments, empty lines and indentation stay here. (No string goes over several lines, or has ` -- ` in it.)
fn compose(own: &str) -> String {
    let mut text = String::new();
    for line in own.lines() {
        match included(line) {
            Some(files) => files
                .flat_map(str::lines)
                .for_each(|line| add(&mut text, line)),
            None => add(&mut text, line),
        }
    }
    text.shrink_to_fit();
    text
}

fn add(text: &mut String, line: &str) {
    let line = line.trim();
    if !line.is_empty() && !line.starts_with("--") {
        text.push_str(line.split(" -- ").next().unwrap_or(line));
        text.push('\n');
    }
}

fn own_text(script: Script) -> &'static str {
    match script {
        Script::Acquire => include_str!("../lua/acquire.lua"),
        Script::Release => include_str!("../lua/release.lua"),
        Script::Renew => include_str!("../lua/renew.lua"),
        Script::Abandon => include_str!("../lua/abandon.lua"),
        Script::Yield => include_str!("../lua/yield.lua"),
        Script::Raise => include_str!("../lua/raise.lua"),
        Script::Inspect => include_str!("../lua/inspect.lua"),
        Script::MutexAcquire => include_str!("../lua/mutex/acquire.lua"),
        Script::MutexRelease => include_str!("../lua/mutex/release.lua"),
        Script::MutexUnlock => include_str!("../lua/mutex/unlock.lua"),
        Script::MutexRenew => include_str!("../lua/mutex/renew.lua"),
        Script::MutexAbandon => include_str!("../lua/mutex/abandon.lua"),
        Script::MutexRaise => include_str!("../lua/mutex/raise.lua"),
        Script::MutexInspect => include_str!("../lua/mutex/inspect.lua"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{COMMON, Script, included, own_text, source};

    /// Every line that is more than a comment, with the comment behind it.
    fn code(text: &str) -> impl Iterator<Item = &str> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("--"))
    }

    #[test]
    fn a_script_is_its_own_code_and_the_common_code_where_it_includes_that() {
        for script in Script::ALL {
            let mut written = Vec::new();
            for line in own_text(script).lines() {
                match included(line) {
                    Some(files) => written.extend(files.flat_map(code)),
                    None => written.extend(code(line)),
                }
            }
            let sent: Vec<_> = source(script).lines().collect();
            assert_eq!(sent.len(), written.len(), "{script:?}");
            for (sent, written) in sent.iter().zip(written) {
                let comment = written.strip_prefix(sent).expect(written);
                assert!(
                    comment.is_empty() || comment.starts_with(" -- "),
                    "{written}"
                );
                assert!(!sent.contains("--"), "{sent}");
            }
        }
    }

    /// What a line of a common file defines for those behind it: `local function a(..)`, `local b, c = ..`.
    fn defined(line: &str) -> Vec<&str> {
        let Some(rest) = line.strip_prefix("local ") else {
            return Vec::new();
        };
        if let Some(function) = rest.strip_prefix("function ") {
            return function.split('(').take(1).collect();
        }
        let names = rest.split(" = ").next().unwrap_or(rest);
        names.split(", ").collect()
    }

    /// The first line that uses a name: as a word that is no field, outside of strings.
    fn first_use<'t>(text: &'t str, name: &str) -> Option<&'t str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        text.lines().find(|line| {
            line.match_indices(name).any(|(at, _)| {
                let (before, behind) = (&line[..at], &line[at + name.len()..]);
                let in_string = before.matches('\'').count() % 2 == 1;
                let is_part =
                    before.ends_with(|c| is_word(c) || c == '.') || behind.starts_with(is_word);
                !in_string && !is_part
            })
        })
    }

    /// A script that fails in the middle has perhaps written already.
    #[test]
    fn a_script_has_every_common_name_before_it_uses_it() {
        let shared = COMMON.into_iter().flat_map(|(_, text)| text.lines());
        let names: BTreeSet<_> = shared.flat_map(defined).collect();
        assert!(names.len() > 60, "only {} are found", names.len());
        for script in Script::ALL {
            for name in &names {
                let first = first_use(source(script), name);
                // `local name`, `function f(name)`, `for name in`, and the field `{ name = .. }`.
                let defines = |line: &str| {
                    let before = line.split(name).next().unwrap_or("");
                    ["local ", "function", "for ", "{"]
                        .iter()
                        .any(|word| before.contains(word))
                };
                assert!(
                    first.is_none_or(defines),
                    "{script:?} uses {name}: {first:?}"
                );
            }
        }
    }

    #[test]
    fn a_line_that_includes_begins_the_line_and_nothing_else_does() {
        for script in Script::ALL {
            let looks =
                |line: &&str| line.trim_start().starts_with("--") && line.contains("include:");
            for line in own_text(script).lines().filter(looks) {
                assert!(included(line).is_some(), "{script:?}: {line}");
            }
        }
    }

    #[test]
    fn no_string_has_what_looks_like_a_comment_or_goes_over_several_lines() {
        let shared = COMMON.into_iter().map(|(_, text)| text);
        for text in shared.chain(Script::ALL.map(own_text)) {
            for long in ["[[", "[=", "\\\n"] {
                assert!(!text.contains(long), "{long}");
            }
            for line in code(text) {
                let code = line.split("--").next().expect("split has one");
                assert_eq!(code.matches('\'').count() % 2, 0, "{line}");
                assert_eq!(code.matches('"').count() % 2, 0, "{line}");
            }
        }
    }
}
