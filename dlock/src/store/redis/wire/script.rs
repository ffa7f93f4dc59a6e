//! The scripts: their texts, and the hashes by which servers know them.

use std::sync::OnceLock;

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
}

impl Script {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Acquire,
        Self::Release,
        Self::Renew,
        Self::Abandon,
        Self::Yield,
        Self::Raise,
        Self::Inspect,
    ];

    /// The script that carries out an operation.
    #[must_use]
    pub fn of(op: &Op) -> Self {
        match op {
            Op::Acquire { .. } => Self::Acquire,
            Op::Release { .. } => Self::Release,
            Op::Renew { .. } => Self::Renew,
            Op::Abandon { .. } => Self::Abandon,
            Op::Yield { .. } => Self::Yield,
            Op::Raise { .. } => Self::Raise,
            Op::Inspect => Self::Inspect,
        }
    }
}

/// What the operations share, in the order in which it stands in a script: each file uses those before it.
const COMMON: [&str; 7] = [
    include_str!("../lua/common/record.lua"),
    include_str!("../lua/common/commit.lua"),
    include_str!("../lua/common/holds.lua"),
    include_str!("../lua/common/line.lua"),
    include_str!("../lua/common/telling.lua"),
    include_str!("../lua/common/tombs.lua"),
    include_str!("../lua/common/only_hold.lua"),
];

/// The line in an operation's own text that stands for [`COMMON`].
const INCLUDE: &str = "-- include: common";

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
        if line == INCLUDE {
            COMMON
                .iter()
                .flat_map(|common| common.lines())
                .for_each(|line| add(&mut text, line));
        } else {
            add(&mut text, line);
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
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMON, INCLUDE, Script, own_text, source};

    /// Every line that is more than a comment, with the comment behind it.
    fn code(text: &str) -> impl Iterator<Item = &str> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("--"))
    }

    #[test]
    fn a_script_is_its_own_code_and_the_common_code_where_it_includes_that() {
        for script in Script::ALL {
            let (before, after) = own_text(script).split_once(INCLUDE).expect("an include");
            let parts = [before].into_iter().chain(COMMON).chain([after]);
            let written: Vec<_> = parts.flat_map(code).collect();
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

    #[test]
    fn no_string_has_what_looks_like_a_comment_or_goes_over_several_lines() {
        for text in COMMON.into_iter().chain(Script::ALL.map(own_text)) {
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
