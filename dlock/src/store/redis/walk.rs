//! Questions to every master: which locks there are, and how busy the servers are.

use std::sync::Arc;

use redis::{Cmd, Value};
use tokio::time::Instant;

use super::RedisStore;
use super::dial::DialFailure;
use super::failure::{Refusal, Trouble, fatal};
use super::node::Node;
use super::wire::text;
use crate::error::Error;

/// Keys looked at in one step of a scan.
const STEP: usize = 1000;

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

impl RedisStore {
    /// The keys of all hashes that start with `stem`.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        let pattern = [&escape(stem), "*"].concat();
        let mut keys = Vec::new();
        for node in self.masters() {
            let mut cursor = "0".to_owned();
            loop {
                let mut scan = redis::cmd("SCAN");
                scan.arg(&cursor).arg("MATCH").arg(&pattern);
                scan.arg("COUNT").arg(STEP).arg("TYPE").arg("hash");
                let answer = self.ask(&node, &scan, deadline).await?;
                let Value::Array(parts) = &answer else { break };
                let [next, Value::Array(found)] = parts.as_slice() else {
                    break;
                };
                keys.extend(found.iter().filter_map(text).map(str::to_owned));
                match text(next) {
                    Some(next) if next != "0" => next.clone_into(&mut cursor),
                    _ => break,
                }
            }
        }
        // A scan may name a key twice, and so may a slot on the move.
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// What all masters together have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        let mut load = ScriptLoad::default();
        for node in self.masters() {
            let mut info = redis::cmd("INFO");
            info.arg("commandstats");
            let answer = self.ask(&node, &info, deadline).await?;
            let stats = text(&answer).unwrap_or_default();
            let line = |line: &&str| line.starts_with("cmdstat_evalsha:");
            if let Some(line) = stats.lines().find(line) {
                load.calls += field(line, "calls=");
                load.micros += field(line, "usec=");
            }
            load.servers += 1;
        }
        Ok(load)
    }

    fn masters(&self) -> Vec<Arc<Node>> {
        self.core.topology.load().masters()
    }

    async fn ask(&self, node: &Arc<Node>, cmd: &Cmd, deadline: Instant) -> Result<Value, Error> {
        let options = &self.core.env.options;
        let mut lease = loop {
            match node.connected(deadline).await {
                Ok(lease) => break lease,
                Err(DialFailure::Fatal(error)) => return Err(error),
                Err(DialFailure::Trouble(trouble)) if Instant::now() >= deadline => {
                    return Err(trouble.into_error());
                }
                Err(DialFailure::Trouble(_)) => {}
            }
        };
        let sent = Instant::now();
        let until = deadline.min(sent + options.response_timeout);
        match lease.connection.request(cmd, until).await {
            Ok(Value::ServerError(error)) => Err(match Refusal::of(&error, node.address()) {
                Refusal::Fatal(kind) => fatal(kind, &error, node.address(), "*", options),
                _ => Trouble::Refused(node.address().clone(), error).into_error(),
            }),
            Ok(value) => Ok(value),
            Err(why) => Err(node.unanswered(&lease, sent, why).into_error()),
        }
    }
}

/// Takes the meaning from the characters that mean something in a pattern.
fn escape(literal: &str) -> String {
    let mut escaped = String::with_capacity(literal.len());
    for c in literal.chars() {
        if "*?[]\\^".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The number after `name` in `cmdstat_evalsha:calls=4,usec=120,…`.
fn field(line: &str, name: &str) -> u64 {
    let number = line.split([':', ',']).find_map(|f| f.strip_prefix(name));
    number.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{escape, field};

    #[test]
    fn prefixes_are_taken_literally() {
        assert_eq!(escape("a*b[c]"), "a\\*b\\[c\\]");
    }

    #[test]
    fn command_statistics_are_read() {
        let line = "cmdstat_evalsha:calls=42,usec=1234,usec_per_call=29.38,rejected_calls=0";
        assert_eq!((field(line, "calls="), field(line, "usec=")), (42, 1234));
        assert_eq!(field(line, "none="), 0);
    }
}
