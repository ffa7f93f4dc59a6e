//! The sums of all rounds: kept in a file after each, so that a later run can add to them.

use std::{collections::BTreeMap, fs, path::PathBuf};

use dlock_tests::history::{Call, Outcome as Came, Story};
use serde_json::{Value, json};

use crate::{
    cli::Options,
    driver::Outcome,
    plan::{Kind, Plan},
};

/// How often what.
pub(crate) type Counts = BTreeMap<String, u64>;

/// The figures.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Of this run alone.
    pub(crate) rounds_now: u64,
    pub(crate) sums: Counts,
    /// By what there is more than one of: faults, violations, what those were put down to, errors, trouble.
    pub(crate) kinds: BTreeMap<String, Counts>,
}

impl Figures {
    /// None, or those of an earlier run of the same kind.
    pub(crate) fn begin(options: &Options) -> Self {
        let text = fs::read_to_string(file(options))
            .ok()
            .filter(|_| options.resume);
        let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        value.map_or_else(Self::default, |value| Self::of_json(&value))
    }

    /// One of the sums.
    pub(crate) fn sum(&self, name: &str) -> u64 {
        self.sums.get(name).copied().unwrap_or(0)
    }

    /// All of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> u64 {
        self.kinds
            .get(kind)
            .map_or(0, |counts| counts.values().sum())
    }

    /// Adds a round; whether a judge objects.
    pub(crate) fn add(&mut self, plan: &Plan, outcome: &Outcome) -> bool {
        let Outcome {
            known,
            story,
            updates,
            verdict,
            took,
            ..
        } = outcome;
        self.rounds_now += 1;
        let grants = story
            .calls
            .iter()
            .filter(|call| call.got().is_some())
            .count();
        for (name, number) in [
            ("rounds", 1),
            ("seconds", took.as_secs()),
            ("operations", story.calls.len() as u64),
            ("grants", grants as u64),
            ("updates", updates.written),
            ("lost_without_fence", updates.lost_without_fence),
            ("lost_with_fence", updates.lost_with_fence),
            ("refused_by_fence", updates.refused),
            ("ordered", verdict.ordered),
            ("undecided", verdict.undecided),
        ] {
            *self.sums.entry(name.to_owned()).or_default() += number;
        }
        let gap = self.sums.entry("longest_gap_ms".to_owned()).or_default();
        *gap = known.gaps_ms.iter().copied().fold(*gap, u64::max);
        for (what, often) in &known.faults {
            self.count("faults", what, *often);
        }
        for (what, often) in &verdict.attributed {
            self.count("attributed", what, *often);
        }
        for violation in &verdict.violations {
            self.count("violations", violation.promise, 1);
        }
        for call in story.calls.iter().filter(|call| call.got().is_some()) {
            self.count("granted", granted_as(plan, call), 1);
        }
        for error in errors(story) {
            self.count("errors", &error, 1);
        }
        for _ in &known.trouble {
            self.count("trouble", &format!("round {}", plan.draw.round), 1);
        }
        !verdict.violations.is_empty()
    }

    fn count(&mut self, kind: &str, what: &str, often: u64) {
        let counts = self.kinds.entry(kind.to_owned()).or_default();
        *counts.entry(what.to_owned()).or_default() += often;
    }

    /// Whether the judges have shown that they see something.
    pub(crate) fn shows_violations_and_lost_updates(&self) -> bool {
        self.of_kind("violations") > 0 && self.sum("lost_without_fence") > 0
    }

    /// No violations of dlock, and some of the other lock.
    pub(crate) fn is_as_it_should_be(&self, options: &Options) -> bool {
        match options.kind {
            Kind::Dlock => self.of_kind("violations") == 0,
            Kind::Plain => self.shows_violations_and_lost_updates(),
        }
    }

    /// Removes what a run was about to write when it was killed.
    pub(crate) fn tidy(options: &Options) {
        // There mostly is nothing.
        let _ = fs::remove_file(unfinished(options));
    }

    /// Keeps them for a later run.
    pub(crate) fn save(&self, options: &Options) {
        let (file, new) = (file(options), unfinished(options));
        let written = fs::create_dir_all(&options.output)
            .and_then(|()| fs::write(&new, format!("{}\n", self.to_json(options))))
            .and_then(|()| fs::rename(&new, &file));
        written.expect("the folder for figures is writable");
    }

    pub(crate) fn to_json(&self, options: &Options) -> Value {
        json!({
            "system": options.system(),
            "server": options.server,
            "topology": options.topology.name(),
            "seed": options.seed,
            "sums": self.sums,
            "kinds": self.kinds,
        })
    }

    fn of_json(value: &Value) -> Self {
        let kinds = value["kinds"].as_object().into_iter().flatten();
        Self {
            rounds_now: 0,
            sums: counts(&value["sums"]),
            kinds: kinds
                .map(|(kind, value)| (kind.clone(), counts(value)))
                .collect(),
        }
    }
}

fn counts(value: &Value) -> Counts {
    let counts = value.as_object().into_iter().flatten();
    let count = |(what, often): (&String, &Value)| (what.clone(), often.as_u64().unwrap_or(0));
    counts.map(count).collect()
}

fn file(options: &Options) -> PathBuf {
    PathBuf::from(&options.output).join(format!("{}.json", options.name()))
}

fn unfinished(options: &Options) -> PathBuf {
    file(options).with_extension("new")
}

/// What kind of grant a call has got.
fn granted_as(plan: &Plan, call: &Call) -> &'static str {
    let process = call.of.process;
    match plan.taken_as(process, call.lock) {
        _ if plan.processes[process].system != Kind::Dlock => "without dlock",
        dlock::LockKind::Rw if call.write => "write",
        dlock::LockKind::Rw => "read",
        dlock::LockKind::FencedMutex => "fenced mutex",
        _ => "mutex",
    }
}

/// What callers were told that is neither a lock nor what they had asked for: not now, or not for longer.
fn errors(story: &Story) -> Vec<String> {
    let asked_for = ["busy", "cancelled", "Busy", "Timeout(Wait)"];
    let error = |outcome: &Came| match outcome {
        Came::Not { why, .. } => {
            let is_error = !asked_for.contains(&why.as_str());
            is_error.then(|| format!("asking: {why}"))
        }
        Came::Got(got) => {
            let (_, released) = got.released.as_ref()?;
            let is_error = !["ok", "dropped"].contains(&released.as_str());
            is_error.then(|| format!("releasing: {released}"))
        }
        Came::Unknown => None,
    };
    story
        .calls
        .iter()
        .filter_map(|call| error(&call.outcome))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Figures, Value};

    #[test]
    fn a_later_run_reads_what_an_earlier_one_wrote() {
        let options = ["--output", "x", "--seed", "3", "--minutes", "1"];
        let options = crate::cli::Options::parse(&options).expect("they are complete");
        let mut figures = Figures::default();
        figures.sums.insert("rounds".to_owned(), 7);
        figures.count("faults", "eviction", 2);
        let text = figures.to_json(&options).to_string();
        let value: Value = serde_json::from_str(&text).expect("it is JSON");
        let read = Figures::of_json(&value);
        assert_eq!((read.sum("rounds"), read.of_kind("faults")), (7, 2));
        assert_eq!(read.to_json(&options), value);
    }
}
