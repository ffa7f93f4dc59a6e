//! How often which command ran and how long it took: `INFO commandstats`.

use std::collections::BTreeMap;

use crate::system::Kind;

/// What only clients send: scripts cannot call it, or none of the scripts here does.
const SENT: [&str; 14] = [
    "asking", "auth", "client", "cluster", "command", "config", "echo", "eval", "evalsha", "fcall",
    "hello", "info", "ping", "script",
];

/// Calls and microseconds for each command, of one or several servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    by_name: BTreeMap<String, (u64, u64)>,
}

impl Commands {
    /// Adds the lines `cmdstat_get:calls=1,usec=2,…`.
    pub(crate) fn add(&mut self, info: &str) {
        for line in info.lines() {
            let Some((name, rest)) = line
                .strip_prefix("cmdstat_")
                .and_then(|line| line.split_once(':'))
            else {
                continue;
            };
            let field = |wanted: &str| -> u64 {
                rest.split(',')
                    .filter_map(|field| field.split_once('='))
                    .find(|(name, _)| *name == wanted)
                    .map_or(0, |(_, value)| value.parse().expect("a number"))
            };
            let entry = self.by_name.entry(name.to_owned()).or_default();
            entry.0 += field("calls");
            entry.1 += field("usec");
        }
    }

    /// What was added since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let by_name = self.by_name.iter().map(|(name, now)| {
            let before = earlier.by_name.get(name).copied().unwrap_or_default();
            (
                name.clone(),
                (
                    now.0.saturating_sub(before.0),
                    now.1.saturating_sub(before.1),
                ),
            )
        });
        Self {
            by_name: by_name.filter(|(_, (calls, _))| *calls > 0).collect(),
        }
    }

    /// Commands that clients of this system sent, and those that ran inside their scripts. (An `HDEL` counts as the
    /// latter: where locks are contended, dlock sends next to none.)
    pub(crate) fn sent_and_inside(&self, kind: Kind) -> (u64, u64) {
        let (mut sent, mut inside) = (0, 0);
        for (name, (calls, _)) in &self.by_name {
            let command = name.split('|').next().unwrap_or(name);
            let by_client = SENT.contains(&command)
                || command.ends_with("subscribe")
                || (command == "set" && kind.sends_set());
            *if by_client { &mut sent } else { &mut inside } += calls;
        }
        (sent, inside)
    }

    /// How many scripts ran.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(crate) fn scripts(&self) -> f64 {
        let calls = |name| self.by_name.get(name).map_or(0, |(calls, _)| *calls);
        (calls("eval") + calls("evalsha")) as f64
    }

    /// The mean duration of a command in us; not a number if it never ran.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(crate) fn usec_per_call(&self, name: &str) -> f64 {
        let (calls, usec) = self.by_name.get(name).copied().unwrap_or_default();
        usec as f64 / calls as f64
    }
}
