//! What a proxy does to traffic; shared by its handle and its connections.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use super::{
    Direction,
    counters::{Count, increment},
    frame::words,
    kept::Kept,
    pattern::Pattern,
};

/// Rules that stay until they are changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weather {
    pub(crate) to_server: Leg,
    pub(crate) to_client: Leg,
    pub(crate) refuse: bool,
    pub(crate) drop_pushes: bool,
    pub(crate) drop_revokes: bool,
}

/// One direction of the way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leg {
    pub(crate) delay: Duration,
    pub(crate) held: bool,
}

impl Weather {
    pub(crate) fn change(&mut self, direction: Direction, change: impl Fn(&mut Leg)) {
        if direction != Direction::ToClient {
            change(&mut self.to_server);
        }
        if direction != Direction::ToServer {
            change(&mut self.to_client);
        }
    }
}

/// What becomes of a request that a rule is about, and of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Cut before the server sees it.
    Before,
    /// Cut when the server has executed it.
    After,
    /// Cut for the client, and kept for the server.
    Keep,
    /// Swallowed, and the connection is silent from then on.
    Mute,
}

#[derive(Debug)]
struct CutRule {
    cut: Cut,
    pattern: Pattern,
    times: usize,
}

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) weather: watch::Sender<Weather>,
    /// Increased to close all connections.
    pub(crate) storm: watch::Sender<u64>,
    cuts: Mutex<Vec<CutRule>>,
    /// What stands in the texts of scripts, and what they have in its place.
    altered: Mutex<Vec<(String, String)>>,
    /// Requests that are to arrive later.
    pub(crate) kept: Mutex<Vec<Kept>>,
    pub(crate) count: Count,
}

impl Rules {
    pub(crate) fn new() -> Self {
        Self {
            weather: watch::Sender::default(),
            storm: watch::Sender::default(),
            cuts: Mutex::default(),
            altered: Mutex::default(),
            kept: Mutex::default(),
            count: Count::default(),
        }
    }

    pub(crate) fn add_cut(&self, cut: Cut, pattern: Pattern, times: usize) {
        let mut cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.push(CutRule {
            cut,
            pattern,
            times,
        });
    }

    pub(crate) fn clear_cuts(&self) {
        self.cuts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    pub(crate) fn add_alteration(&self, from: &str, to: &str) {
        assert_eq!(from.len(), to.len(), "lengths stay as they were said");
        let mut altered = self.altered.lock().unwrap_or_else(PoisonError::into_inner);
        altered.push((from.to_owned(), to.to_owned()));
    }

    /// Alters the text of a script, if the request brings one.
    pub(crate) fn alter(&self, request: &mut Vec<u8>) {
        let altered = self.altered.lock().unwrap_or_else(PoisonError::into_inner);
        if altered.is_empty() || !brings_a_script(request) {
            return;
        }
        // Names and arguments are text in all tests that alter anything.
        let mut text = String::from_utf8_lossy(request).into_owned();
        for (from, to) in altered.iter() {
            text = text.replace(from, to);
        }
        *request = text.into_bytes();
    }

    pub(crate) fn keep(&self, kept: Kept) {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(kept);
        increment(&self.count.kept);
    }

    pub(crate) fn take_kept(&self) -> Vec<Kept> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut all)
    }

    /// Whether this request is to be cut; each yes uses up one of the rule's times.
    pub(crate) fn judge(&self, request: &[u8]) -> Option<Cut> {
        let mut cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = cuts
            .iter_mut()
            .find(|rule| rule.times > 0 && rule.pattern.matches(request))?;
        rule.times -= 1;
        Some(rule.cut)
    }
}

/// Whether a request is `EVAL` or `SCRIPT LOAD`.
fn brings_a_script(request: &[u8]) -> bool {
    let words = words(request, 2);
    let is = |number: usize, name: &str| {
        words
            .get(number)
            .is_some_and(|word: &&[u8]| word.eq_ignore_ascii_case(name.as_bytes()))
    };
    is(0, "EVAL") || is(0, "SCRIPT") && is(1, "LOAD")
}
