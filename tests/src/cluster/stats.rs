//! How often which command ran.

use std::collections::BTreeMap;

/// Calls per command, in lower case; subcommands are `cluster|slots`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandStats {
    calls: BTreeMap<String, u64>,
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

    /// What was called since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let more = |(command, calls): (&String, &u64)| {
            let more = calls.saturating_sub(earlier.calls(command));
            (more > 0).then(|| (command.clone(), more))
        };
        Self {
            calls: self.calls.iter().filter_map(more).collect(),
        }
    }

    /// All commands that were called.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.calls
            .iter()
            .map(|(name, calls)| (name.as_str(), *calls))
    }

    /// Adds the lines `cmdstat_get:calls=1,usec=…` of one server.
    pub(crate) fn add(&mut self, info: &str) {
        for line in info.lines() {
            if let Some((name, rest)) = line
                .strip_prefix("cmdstat_")
                .and_then(|line| line.split_once(":calls="))
            {
                let calls = rest.split(',').next().unwrap_or(rest);
                *self.calls.entry(name.to_owned()).or_default() +=
                    calls.parse::<u64>().expect("calls are counted");
            }
        }
    }
}
