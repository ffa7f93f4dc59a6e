//! How often which command ran and how long it took: `INFO commandstats`.

use std::collections::BTreeMap;

use super::fields;
use crate::{measure::count, system::Kind};

/// What only clients send: scripts cannot call it, or none of the scripts here does.
const SENT: [&str; 14] = [
    "asking", "auth", "client", "cluster", "command", "config", "echo", "eval", "evalsha", "fcall",
    "hello", "info", "ping", "script",
];

/// Calls and microseconds for each command, of one or several servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    by_name: BTreeMap<String, (usize, usize)>,
}

impl FromIterator<String> for Commands {
    /// Adds up the lines `cmdstat_get:calls=1,usec=2,…` of several servers.
    fn from_iter<I: IntoIterator<Item = String>>(infos: I) -> Self {
        let mut commands = Self::default();
        for info in infos {
            for (name, counts) in fields(&info) {
                if let Some(name) = name.strip_prefix("cmdstat_") {
                    let (calls, usec) = commands.by_name.entry(name.to_owned()).or_default();
                    *calls += counter(counts, "calls");
                    *usec += counter(counts, "usec");
                }
            }
        }
        commands
    }
}

/// One of the counters `calls=1,usec=2,…`.
fn counter(counters: &str, wanted: &str) -> usize {
    let mut counters = counters
        .split(',')
        .filter_map(|field| field.split_once('='));
    let found = counters.find(|(name, _)| *name == wanted);
    found.map_or(0, |(_, value)| value.parse().expect("a number"))
}

impl Commands {
    /// The calls and microseconds of one command.
    fn of(&self, name: &str) -> (usize, usize) {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// What was added since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        for (name, (calls, usec)) in &mut since.by_name {
            let (calls_before, usec_before) = earlier.of(name);
            *calls = calls.saturating_sub(calls_before);
            *usec = usec.saturating_sub(usec_before);
        }
        since.by_name.retain(|_, (calls, _)| *calls > 0);
        since
    }

    /// Commands that clients of this system sent, and those that ran inside their scripts. (An `HDEL` counts as the
    /// latter: where locks are contended, dlock sends next to none.)
    pub(crate) fn sent_and_inside(&self, kind: Kind) -> (f64, f64) {
        let (mut sent, mut inside) = (0, 0);
        for (name, (calls, _)) in &self.by_name {
            let command = name.split('|').next().unwrap_or(name);
            let by_client = SENT.contains(&command)
                || command.ends_with("subscribe")
                || (command == "set" && kind.sends_set());
            *if by_client { &mut sent } else { &mut inside } += calls;
        }
        (count(sent), count(inside))
    }

    /// How many scripts ran.
    pub(crate) fn scripts(&self) -> f64 {
        count(self.of("eval").0 + self.of("evalsha").0)
    }

    /// The mean duration of a command in us; not a number if it never ran.
    pub(crate) fn usec_per_call(&self, name: &str) -> f64 {
        let (calls, usec) = self.of(name);
        count(usec) / count(calls)
    }
}
