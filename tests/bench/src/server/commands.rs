//! What commands of a contest cost the servers.

use dlock_tests::CommandStats;

use crate::{measure::count, system::Kind};

/// What only clients send: scripts cannot call it, or none of the scripts here does.
const SENT: [&str; 14] = [
    "asking", "auth", "client", "cluster", "command", "config", "echo", "eval", "evalsha", "fcall",
    "hello", "info", "ping", "script",
];

/// The commands of one or several servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(CommandStats);

impl FromIterator<String> for Commands {
    /// Adds up what several servers say to `INFO commandstats`.
    fn from_iter<I: IntoIterator<Item = String>>(infos: I) -> Self {
        let mut stats = CommandStats::default();
        for info in infos {
            stats.add(&info);
        }
        Self(stats)
    }
}

impl Commands {
    /// What was added since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self(self.0.since(&earlier.0))
    }

    /// Commands that clients of this system sent, and those that ran inside their scripts. (An `HDEL` counts as the
    /// latter: where locks are contended, dlock sends next to none.)
    pub(crate) fn sent_and_inside(&self, kind: Kind) -> (f64, f64) {
        let (mut sent, mut inside) = (0, 0);
        for (name, calls) in self.0.iter() {
            let command = name.split('|').next().unwrap_or(name);
            let by_client = SENT.contains(&command)
                || command.ends_with("subscribe")
                || (command == "set" && kind.sends_set());
            *if by_client { &mut sent } else { &mut inside } += calls;
        }
        (number(sent), number(inside))
    }

    /// How many scripts ran.
    pub(crate) fn scripts(&self) -> f64 {
        number(self.0.scripts())
    }

    /// The mean duration of a command in us; not a number if it never ran.
    pub(crate) fn usec_per_call(&self, name: &str) -> f64 {
        number(self.0.micros(name)) / number(self.0.calls(name))
    }
}

fn number(counted: u64) -> f64 {
    count(usize::try_from(counted).expect("64 bits"))
}
