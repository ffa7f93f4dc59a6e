//! The counters, and whether they are high enough.

use std::{fmt::Write as _, time::Duration};

use crate::{clock::Moment, incident::Deed, outage::Outage, side::Side};

/// The smallest part of the grants that a side may have, in percent.
const LEAST_SHARE: u64 = 5;

/// What a side did, and what was done to it.
#[derive(Clone, Debug, Default)]
struct Tally {
    version: String,
    grants: u64,
    waited: Duration,
    longest_wait: Duration,
    extended: u64,
    refused: u64,
    killed_holding: u64,
    killed_waiting: u64,
    frozen: u64,
}

/// The counters of all sides.
#[derive(Debug)]
pub(crate) struct Figures {
    sides: Vec<(Side, Tally)>,
    last_grant: Option<Moment>,
    longest_gap: Duration,
    servers_killed: u64,
    servers_frozen: u64,
    /// Fencing tokens: how many, and the last.
    fences: u64,
    last_fence: u64,
}

impl Figures {
    pub(crate) fn new(sides: &[Side]) -> Self {
        let tally = |side: &Side| (*side, Tally::default());
        Self {
            sides: sides.iter().map(tally).collect(),
            last_grant: None,
            longest_gap: Duration::ZERO,
            servers_killed: 0,
            servers_frozen: 0,
            fences: 0,
            last_fence: 0,
        }
    }

    pub(crate) fn version(&mut self, side: Side, version: &str) {
        version.clone_into(&mut self.of(side).version);
    }

    pub(crate) fn grant(&mut self, side: Side, waited: Duration, now: Moment) {
        let last = self.last_grant.replace(now).unwrap_or(now);
        self.longest_gap = self.longest_gap.max(now.since(last));
        let tally = self.of(side);
        tally.grants += 1;
        tally.waited += waited;
        tally.longest_wait = tally.longest_wait.max(waited);
    }

    pub(crate) fn extended(&mut self, side: Side) {
        self.of(side).extended += 1;
    }

    /// It tried to extend or release what it no longer had, and was told so.
    pub(crate) fn refused(&mut self, side: Side) {
        self.of(side).refused += 1;
    }

    pub(crate) fn done(&mut self, side: Side, deed: Deed) {
        let tally = self.of(side);
        match deed {
            Deed::KillHolding | Deed::KillExtended => tally.killed_holding += 1,
            Deed::KillWaiting => tally.killed_waiting += 1,
            Deed::Freeze => tally.frozen += 1,
        }
    }

    pub(crate) fn outage(&mut self, outage: Outage) {
        match outage {
            Outage::Killed => self.servers_killed += 1,
            Outage::Frozen => self.servers_frozen += 1,
        }
    }

    pub(crate) fn fenced(&mut self, fence: u64) {
        self.fences += 1;
        self.last_fence = fence;
    }

    /// The counters without a side.
    pub(crate) fn of_all(&self) -> String {
        format!(
            "longest time without a grant: {} ms; servers killed: {}, frozen: {}; fencing tokens: {}, the last {}",
            self.longest_gap.as_millis(),
            self.servers_killed,
            self.servers_frozen,
            self.fences,
            self.last_fence
        )
    }

    /// A Markdown table.
    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::from(
            "| side | version | grants | share, % | mean wait, ms | longest wait, ms | extensions | refused, its own no \
             more | killed holding | killed waiting | frozen holding |\n\
             |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for (side, tally) in &self.sides {
            let mean = tally.waited.as_millis() / u128::from(tally.grants.max(1));
            let _ = writeln!(
                text,
                "| {side} | {} | {} | {} | {mean} | {} | {} | {} | {} | {} | {} |",
                tally.version,
                tally.grants,
                self.share(tally),
                tally.longest_wait.as_millis(),
                tally.extended,
                tally.refused,
                tally.killed_holding,
                tally.killed_waiting,
                tally.frozen,
            );
        }
        text
    }

    /// What did not happen that had to; without faults, only their shares count; otherwise servers have to
    /// have failed if they can (`fails`).
    pub(crate) fn lacks(&self, calm: bool, fails: bool) -> Vec<String> {
        let mut lacks = Vec::new();
        if fails && self.servers_killed.min(self.servers_frozen) == 0 {
            lacks.push("servers were not both killed and frozen".to_owned());
        }
        for (side, tally) in &self.sides {
            if self.share(tally) < LEAST_SHARE {
                lacks.push(format!(
                    "{side} had less than {LEAST_SHARE} % of the grants"
                ));
            }
            if calm {
                continue;
            }
            for (what, count) in [
                ("killed while it held the lock", tally.killed_holding),
                ("killed while it waited", tally.killed_waiting),
                ("frozen while it held the lock", tally.frozen),
                ("refused", tally.refused),
                ("seen to extend a hold", tally.extended),
            ] {
                if count == 0 {
                    lacks.push(format!("{side} was never {what}: it takes more --seconds"));
                }
            }
        }
        lacks
    }

    /// In percent, rounded down.
    fn share(&self, tally: &Tally) -> u64 {
        let all: u64 = self.sides.iter().map(|(_, tally)| tally.grants).sum();
        100 * tally.grants / all.max(1)
    }

    fn of(&mut self, side: Side) -> &mut Tally {
        let found = self.sides.iter_mut().find(|(other, _)| *other == side);
        &mut found.expect("all sides are there from the start").1
    }
}
