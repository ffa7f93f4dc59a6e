//! One number of one build as a multiple of the other's.

use std::fmt::{self, Write as _};

use serde_json::{Value, json};

use super::pairs::{Number, Pair};
use crate::{
    measure::{Samples, count},
    results::readable,
};

/// The smallest median that counts as not slower.
const NOT_SLOWER: f64 = 0.95;

/// Waits in ms that are shorter than any round trip: the process let a task in by itself, at once.
const NO_WAIT: f64 = 0.02;

/// The better direction, and whether a difference means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    MoreIsBetter,
    LessIsBetter,
    /// Less is better, but it hangs on one event or a few: shown, not judged.
    Tail,
    /// A circumstance of the run.
    Neither,
}

impl Sense {
    fn of(number: &Number) -> Self {
        let metric = number.metric.as_str();
        match number.unit.as_str() {
            // How long locks were held, and how fast the network was: conditions, not results. Growth is
            // a difference of two sizes, which may be nothing at all.
            _ if ["hold", "round trip", "growth"].contains(&metric) => Self::Neither,
            _ if metric.ends_with("max") || metric.ends_with("p99") => Self::Tail,
            _ if metric == "of the longest" => Self::Tail,
            // As many as there are holds and leases.
            "1/s" if metric == "renewals" => Self::Neither,
            "1/s" if metric.starts_with("scripts ") => Self::LessIsBetter,
            "1/s" | "%" => Self::MoreIsBetter,
            "1" if metric == "lost" => Self::LessIsBetter,
            "1" => Self::Neither,
            _ => Self::LessIsBetter,
        }
    }
}

/// One number of both builds, over all pairs.
#[derive(Debug)]
pub(super) struct Ratio {
    /// What was measured; its value means nothing.
    number: Number,
    sense: Sense,
    ours: Samples,
    theirs: Samples,
    ratios: Samples,
}

impl Ratio {
    /// Everything that both builds have measured, in our order.
    pub(super) fn all(pairs: &[Pair]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for pair in pairs {
            for ours in &pair.ours {
                let same = |other: &&Number| is_same(ours, other);
                let Some(theirs) = pair.theirs.iter().find(same) else {
                    continue;
                };
                let index = all.iter().position(|ratio| is_same(&ratio.number, ours));
                let index = index.unwrap_or_else(|| {
                    all.push(Self::new(ours));
                    all.len() - 1
                });
                all[index].add(ours.value, theirs.value);
            }
        }
        all
    }

    fn new(number: &Number) -> Self {
        Self {
            number: number.clone(),
            sense: Sense::of(number),
            ours: Samples::default(),
            theirs: Samples::default(),
            ratios: Samples::default(),
        }
    }

    fn add(&mut self, ours: f64, theirs: f64) {
        self.ours.add(ours);
        self.theirs.add(theirs);
        let (better, worse) = match self.sense {
            Sense::MoreIsBetter | Sense::Neither => (ours, theirs),
            Sense::LessIsBetter | Sense::Tail => (theirs, ours),
        };
        // None of something is as good as none of it.
        #[expect(clippy::float_cmp, reason = "what is exactly the same is equal")]
        let ratio = if better == worse { 1.0 } else { better / worse };
        self.ratios.add(ratio);
    }

    /// The median; of an even number of pairs, half-way between the two in the middle.
    pub(super) fn median(&self) -> f64 {
        let quarter = 0.25 / count(self.ratios.len());
        let (lower, upper) = (0.5 - quarter, 0.5 + quarter);
        f64::midpoint(self.ratios.percentile(lower), self.ratios.percentile(upper))
    }

    /// Whether the verdict depends on it.
    pub(super) fn is_judged(&self) -> bool {
        matches!(self.sense, Sense::MoreIsBetter | Sense::LessIsBetter) && !self.is_no_wait()
    }

    fn is_no_wait(&self) -> bool {
        let longest = self.ours.median().max(self.theirs.median());
        self.number.unit == "ms" && longest < NO_WAIT
    }

    pub(super) fn is_not_slower(&self) -> bool {
        self.median() >= NOT_SLOWER
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "workload": self.number.workload,
            "system": self.number.system,
            "metric": self.number.metric,
            "unit": self.number.unit,
            "ours": self.ours.median(),
            "theirs": self.theirs.median(),
            "ratio": self.median(),
            "min": self.ratios.percentile(0.0),
            "max": self.ratios.max(),
            "pairs": self.ratios.len(),
            "judged": self.is_judged(),
        })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number {
            workload,
            system,
            metric,
            ..
        } = &self.number;
        write!(f, "{workload}, {system}: {metric} {:.2}", self.median())
    }
}

fn is_same(a: &Number, b: &Number) -> bool {
    a.workload == b.workload && a.system == b.system && a.metric == b.metric && a.unit == b.unit
}

/// A Markdown table of the ratios of one workload.
pub(super) fn to_markdown(title: &str, ratios: &[Ratio]) -> String {
    let mut text = format!(
        "### {title}\n\n| workload | system | metric | ours | theirs | ratio | min | max | pairs | |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---|\n"
    );
    for ratio in ratios {
        let Number {
            workload,
            system,
            metric,
            unit,
            ..
        } = &ratio.number;
        let (ours, theirs) = (
            readable(ratio.ours.median()),
            readable(ratio.theirs.median()),
        );
        let remark = match ratio.sense {
            Sense::Tail => "a few events: not judged",
            Sense::Neither => "ours / theirs, neither is better",
            _ if ratio.is_no_wait() => "no wait: not judged",
            _ if ratio.is_not_slower() => "",
            _ => "**slower**",
        };
        let _ = writeln!(
            text,
            "| {workload} | {system} | {metric} [{unit}] | {ours} | {theirs} | {:.3} | {:.3} | {:.3} | {} | {remark} |",
            ratio.median(),
            ratio.ratios.percentile(0.0),
            ratio.ratios.max(),
            ratio.ratios.len(),
        );
    }
    text
}
