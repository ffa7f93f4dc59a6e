//! The counters, and whether they are high enough.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use crate::{clock::Moment, outage::Outage, side::Side};

/// The smallest part of the grants that a side may have, in percent.
const LEAST_SHARE: u64 = 5;

/// What a trial with faults has to bring about for each side, in the order of the table's columns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Extended,
    /// A process tried to extend or release a hold that it had lost, and the library refused.
    Refused,
    KilledHolding,
    KilledWaiting,
    Frozen,
}

/// What a side was never, if its [`Count`] is zero.
const NEVER: [&str; 5] = [
    "seen to extend a hold",
    "refused",
    "killed while it held the lock",
    "killed while it waited",
    "frozen while it held the lock",
];

/// What a side did, and what was done to it.
#[derive(Clone, Debug, Default)]
struct Tally {
    version: String,
    grants: u64,
    waited: Duration,
    longest_wait: Duration,
    counts: [u64; NEVER.len()],
}

/// The counters of all sides.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    sides: BTreeMap<Side, Tally>,
    last_grant: Option<Moment>,
    longest_gap: Duration,
    /// By [`Outage`].
    outages: [u64; 2],
    /// Fencing tokens: how many, and the last.
    fences: u64,
    last_fence: u64,
}

impl Figures {
    pub(crate) fn new(sides: &[Side]) -> Self {
        let tally = |side: &Side| (*side, Tally::default());
        Self {
            sides: sides.iter().map(tally).collect(),
            ..Self::default()
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

    pub(crate) fn count(&mut self, side: Side, count: Count) {
        self.of(side).counts[count as usize] += 1;
    }

    pub(crate) fn outage(&mut self, outage: Outage) {
        self.outages[outage as usize] += 1;
    }

    pub(crate) fn fenced(&mut self, fence: u64) {
        self.fences += 1;
        self.last_fence = fence;
    }

    /// The counters without a side.
    pub(crate) fn of_all(&self) -> String {
        let (gap, [killed, frozen]) = (self.longest_gap.as_millis(), self.outages);
        let (fences, last) = (self.fences, self.last_fence);
        format!(
            "longest time without a grant: {gap} ms; servers killed: {killed}, frozen: {frozen}; fencing tokens: {fences}, \
             the last {last}"
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
            let (version, grants, share) = (&tally.version, tally.grants, self.share(tally));
            let mean = tally.waited.as_millis() / u128::from(grants.max(1));
            let longest = tally.longest_wait.as_millis();
            let counts = tally.counts.map(|count| count.to_string()).join(" | ");
            let _ = writeln!(
                text,
                "| {side} | {version} | {grants} | {share} | {mean} | {longest} | {counts} |"
            );
        }
        text
    }

    /// What should have happened and did not. Without faults (`calm`) only the shares count. Servers have to have failed if
    /// they can (`fails`).
    pub(crate) fn lacks(&self, calm: bool, fails: bool) -> Vec<String> {
        let mut lacks = Vec::new();
        if fails && self.outages.contains(&0) {
            lacks.push("servers were not both killed and frozen".to_owned());
        }
        for (side, tally) in &self.sides {
            if self.share(tally) < LEAST_SHARE {
                lacks.push(format!(
                    "{side} had less than {LEAST_SHARE} % of the grants"
                ));
            }
            let missing = NEVER.iter().zip(tally.counts);
            let missing = missing.filter(|(_, count)| *count == 0 && !calm);
            lacks.extend(
                missing
                    .map(|(what, _)| format!("{side} was never {what}: it takes more --seconds")),
            );
        }
        lacks
    }

    /// In percent, rounded down.
    fn share(&self, tally: &Tally) -> u64 {
        let all: u64 = self.sides.values().map(|tally| tally.grants).sum();
        100 * tally.grants / all.max(1)
    }

    fn of(&mut self, side: Side) -> &mut Tally {
        let tally = self.sides.get_mut(&side);
        tally.expect("all sides are there from the start")
    }
}
