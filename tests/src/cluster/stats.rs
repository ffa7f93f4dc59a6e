//! How often which command ran, and for how long.

use std::collections::BTreeMap;

/// Calls per command, in lower case; subcommands are `cluster|slots`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandStats {
    calls: BTreeMap<String, u64>,
    script_micros: u64,
}

impl CommandStats {
    /// Calls of one command.
    #[must_use]
    pub fn calls(&self, command: &str) -> u64 {
        self.calls.get(command).copied().unwrap_or(0)
    }

    /// Scripts that were called, by their text or their hash.
    #[must_use]
    pub fn scripts(&self) -> u64 {
        self.calls("eval") + self.calls("evalsha")
    }

    /// The time that scripts took, in microseconds.
    #[must_use]
    pub fn script_micros(&self) -> u64 {
        self.script_micros
    }

    /// What was called since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let more = |(command, calls): (&String, &u64)| {
            let more = calls.saturating_sub(earlier.calls(command));
            (more > 0).then(|| (command.clone(), more))
        };
        Self {
            calls: self.calls.iter().filter_map(more).collect(),
            script_micros: self.script_micros.saturating_sub(earlier.script_micros),
        }
    }

    /// All commands that were called.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.calls
            .iter()
            .map(|(name, calls)| (name.as_str(), *calls))
    }

    /// Adds the lines `cmdstat_get:calls=1,usec=1,…` of one server.
    pub fn add(&mut self, info: &str) {
        for line in info.lines() {
            let Some((name, numbers)) = line
                .strip_prefix("cmdstat_")
                .and_then(|line| line.split_once(':'))
            else {
                continue;
            };
            let number = |name| {
                let mut numbers = numbers.split(',');
                let number = numbers.find_map(|number| number.strip_prefix(name));
                number.map(|number| number.parse::<u64>().expect("a number"))
            };
            *self.calls.entry(name.to_owned()).or_default() +=
                number("calls=").expect("calls are counted");
            if name.starts_with("eval") {
                self.script_micros += number("usec=").expect("time is counted");
            }
        }
    }
}
