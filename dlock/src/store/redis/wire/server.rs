//! What a server is asked about itself, and what it says: its time, its role and its identity, which locks it has, and how busy
//! it is with scripts.

use redis::{Cmd, Pipeline, Value};

use super::decode::text;
use crate::key::LockKey;

/// Names the connection and asks for the time.
pub(crate) fn greeting(client: &str) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    pipeline.cmd("CLIENT").arg("SETNAME").arg(client);
    pipeline.cmd("TIME");
    pipeline
}

/// The server's time in what it answers to that, in microseconds.
pub(crate) fn time(answers: &[Value]) -> Option<u64> {
    let Value::Array(parts) = answers.get(1)? else {
        return None;
    };
    let mut numbers = parts.iter().map(|part| text(part)?.parse::<u64>().ok());
    let (seconds, micros) = (numbers.next()??, numbers.next()??);
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}

/// What kind of server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A node of a cluster.
    Cluster,
    /// It only watches others.
    Sentinel,
    /// A replica outside of a cluster.
    Replica,
    /// The only server, as far as it knows.
    Standalone,
}

/// Asks for the role.
pub(crate) fn hello() -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(1);
    pipeline.cmd("HELLO");
    pipeline
}

impl Role {
    /// Reads the answer.
    pub(crate) fn of(hello: &Value) -> Self {
        match field(hello, "mode") {
            Some("cluster") => Self::Cluster,
            Some("sentinel") => Self::Sentinel,
            _ if field(hello, "role") == Some("replica") => Self::Replica,
            _ => Self::Standalone,
        }
    }
}

fn field<'v>(hello: &'v Value, name: &str) -> Option<&'v str> {
    match hello {
        Value::Map(pairs) => pairs
            .iter()
            .find(|(key, _)| text(key) == Some(name))
            .and_then(|(_, value)| text(value)),
        _ => None,
    }
}

/// The lines of `INFO` that no two servers have in common. Only a master and its replicas share the second one.
const FIELDS: [&str; 2] = ["run_id:", "master_replid:"];

/// Asks a server for its identity. (Redis 6.2 takes one section at a time.)
pub(crate) fn who_are_you() -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    pipeline.cmd("INFO").arg("server");
    pipeline.cmd("INFO").arg("replication");
    pipeline
}

/// What the server answers to that; nothing if it keeps that to itself.
pub(crate) fn identity(answers: &[Value]) -> Vec<String> {
    let lines = answers.iter().filter_map(text).flat_map(str::lines);
    let marks = lines.filter(|line| {
        let value = FIELDS.iter().find_map(|field| line.strip_prefix(field));
        value.is_some_and(|value| !value.trim_matches('0').is_empty())
    });
    marks.map(str::to_owned).collect()
}

/// Keys looked at in one step.
const STEP: usize = 1000;

/// One step through the keys that start with `stem`, from `cursor` on, which is `0` at first.
pub(crate) fn scan(stem: &str, cursor: &str) -> Cmd {
    let mut scan = redis::cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(escape(stem) + "*");
    scan.arg("COUNT").arg(STEP).arg("TYPE").arg("hash");
    scan
}

/// The cursor of the next step, if there is one, and the keys found. `None` for an answer to something else.
pub(crate) fn found(answer: &Value) -> Option<(Option<String>, impl Iterator<Item = String>)> {
    let Value::Array(parts) = answer else {
        return None;
    };
    let [next, Value::Array(keys)] = parts.as_slice() else {
        return None;
    };
    let next = text(next).filter(|next| *next != "0").map(str::to_owned);
    Some((next, keys.iter().filter_map(text).map(str::to_owned)))
}

/// Removes the last token of a lock that no client will want again.
pub(crate) fn forget_token(key: &LockKey) -> Cmd {
    let mut forget = redis::cmd("HDEL");
    forget.arg(key.as_str()).arg("t");
    forget
}

/// Takes the meaning from the characters that mean something in a pattern.
pub(super) fn escape(literal: &str) -> String {
    let mut escaped = String::with_capacity(literal.len());
    for c in literal.chars() {
        if "*?[]\\^".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

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
            self.calls += number_in(line, "calls=");
            self.micros += number_in(line, "usec=");
        }
        self.servers += 1;
    }
}

/// The number after `name` in `cmdstat_evalsha:calls=4,usec=120,…`.
fn number_in(line: &str, name: &str) -> u64 {
    let number = line.split([':', ',']).find_map(|f| f.strip_prefix(name));
    number.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::{escape, identity, number_in};

    #[test]
    fn marks_are_read_and_empty_ones_are_none() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let answers = [
            text("# Server\r\nredis_version:7.0.15\r\nrun_id:ab12\r\n"),
            text("role:master\r\nmaster_replid:cd34\r\nmaster_replid2:0000\r\n"),
        ];
        assert_eq!(identity(&answers), ["run_id:ab12", "master_replid:cd34"]);
        let none = [
            text("run_id:\r\n"),
            text("master_replid:0000\r\n"),
            Value::Nil,
        ];
        assert_eq!(identity(&none), [] as [&str; 0]);
    }

    #[test]
    fn prefixes_are_taken_literally() {
        assert_eq!(escape("a*b[c]"), "a\\*b\\[c\\]");
    }

    #[test]
    fn command_statistics_are_read() {
        let line = "cmdstat_evalsha:calls=42,usec=1234,usec_per_call=29.38,rejected_calls=0";
        assert_eq!(
            (number_in(line, "calls="), number_in(line, "usec=")),
            (42, 1234)
        );
        assert_eq!(number_in(line, "none="), 0);
    }
}
