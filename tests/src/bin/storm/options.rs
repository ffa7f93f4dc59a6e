//! What the command line says.

use std::time::Duration;

use super::site::Kind;

/// How much of everything, and what of it.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) sites: Vec<Kind>,
    pub(crate) only: Option<String>,
    /// Processes that do nothing but keep cores busy.
    pub(crate) busy: usize,
    /// Locks that one process holds and the others wait for.
    pub(crate) locks: usize,
    /// How long the server stands still.
    pub(crate) silence: Duration,
    /// Processes that start at once, with this many waiters each.
    pub(crate) starters: usize,
    pub(crate) each: usize,
    /// Waiters on one lock.
    pub(crate) line: usize,
    /// How many channels count as all, if not what this build should have.
    pub(crate) channels: Option<usize>,
}

impl Options {
    /// Reads the words; `scripts/storm` has the help.
    pub(crate) fn read(words: &[&str]) -> Self {
        let quick = words.contains(&"--quick");
        let busy = words.contains(&"--busy");
        let value = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            Some(
                *words
                    .get(at + 1)
                    .unwrap_or_else(|| panic!("{name} wants a value")),
            )
        };
        let number = |name: &str| value(name).map(|text| text.parse().expect("a number"));
        let (locks, starters, each, line) = if quick {
            (2000, 20, 50, 400)
        } else {
            (10_000, 200, 100, 2000)
        };
        let sites = match value("--topology") {
            Some("single") => vec![Kind::Single],
            Some("cluster") => vec![Kind::Cluster],
            Some(other) => panic!("--topology is single or cluster, not {other}"),
            None if quick => vec![Kind::Single],
            None => vec![Kind::Single, Kind::Cluster],
        };
        Self {
            sites,
            only: value("--only").map(str::to_owned),
            busy: if busy { 2 } else { 0 },
            locks: number("--locks").unwrap_or(locks),
            silence: Duration::from_secs(if quick { 4 } else { 5 }),
            starters: number("--processes").unwrap_or(starters),
            each,
            line: number("--line").unwrap_or(line),
            channels: number("--channels"),
        }
    }

    /// Whether a part is to run.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.only
            .as_deref()
            .is_none_or(|only| only.split(',').any(|word| word == part))
    }

    /// Three times as much time beside processes that keep the cores busy, and on a machine that is said to be.
    pub(crate) fn time(&self, quiet: Duration) -> Duration {
        dlock_tests::scaled(quiet * if self.busy > 0 { 3 } else { 1 })
    }
}
