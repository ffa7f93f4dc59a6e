//! How busy servers are with scripts.

use redis::{Cmd, Value};

use super::value::text;

/// How much the servers have done for scripts since they started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct ScriptLoad {
    /// How many masters were asked.
    pub servers: usize,
    /// Scripts that were run.
    pub calls: u64,
    /// What they took, in microseconds.
    pub micros: u64,
}

/// Asks a server for its statistics.
pub(crate) fn command_statistics() -> Cmd {
    let mut info = redis::cmd("INFO");
    info.arg("commandstats");
    info
}

impl ScriptLoad {
    /// Adds what one server answers to that.
    pub(crate) fn add(&mut self, answer: &Value) {
        let statistics = text(answer).unwrap_or_default();
        let line =
            |line: &&str| line.starts_with("cmdstat_eval:") || line.starts_with("cmdstat_evalsha:");
        for line in statistics.lines().filter(line) {
            self.calls += field(line, "calls=");
            self.micros += field(line, "usec=");
        }
        self.servers += 1;
    }
}

/// The number after `name` in `cmdstat_evalsha:calls=4,usec=120,…`.
fn field(line: &str, name: &str) -> u64 {
    let number = line.split([':', ',']).find_map(|f| f.strip_prefix(name));
    number.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn command_statistics_are_read() {
        let line = "cmdstat_evalsha:calls=42,usec=1234,usec_per_call=29.38,rejected_calls=0";
        assert_eq!((field(line, "calls="), field(line, "usec=")), (42, 1234));
        assert_eq!(field(line, "none="), 0);
    }
}
