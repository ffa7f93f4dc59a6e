//! How often which command ran, and for how long: `INFO commandstats`.

use std::collections::BTreeMap;

/// Calls and microseconds of each command, in lower case; subcommands are `cluster|slots`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandStats {
    by_name: BTreeMap<String, Ran>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ran {
    calls: u64,
    micros: u64,
}

impl CommandStats {
    /// Calls of one command.
    #[must_use]
    pub fn calls(&self, command: &str) -> u64 {
        self.of(command).calls
    }

    /// The time that one command took, in microseconds.
    #[must_use]
    pub fn micros(&self, command: &str) -> u64 {
        self.of(command).micros
    }

    /// Scripts that were called, by their text or their hash.
    #[must_use]
    pub fn scripts(&self) -> u64 {
        self.calls("eval") + self.calls("evalsha")
    }

    /// The time that scripts took, in microseconds.
    #[must_use]
    pub fn script_micros(&self) -> u64 {
        self.micros("eval") + self.micros("evalsha")
    }

    /// What was called since `earlier`. A server that was started again counts from zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let more = |(command, now): (&String, &Ran)| {
            let before = earlier.of(command);
            let more = Ran {
                calls: now.calls.saturating_sub(before.calls),
                micros: now.micros.saturating_sub(before.micros),
            };
            (more.calls > 0).then(|| (command.clone(), more))
        };
        Self {
            by_name: self.by_name.iter().filter_map(more).collect(),
        }
    }

    /// All commands that were called.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_name
            .iter()
            .map(|(name, ran)| (name.as_str(), ran.calls))
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
                let number = number.expect("calls and their time are counted");
                number.parse::<u64>().expect("a number")
            };
            let ran = self.by_name.entry(name.to_owned()).or_default();
            ran.calls += number("calls=");
            ran.micros += number("usec=");
        }
    }

    fn of(&self, command: &str) -> Ran {
        self.by_name.get(command).copied().unwrap_or_default()
    }
}
