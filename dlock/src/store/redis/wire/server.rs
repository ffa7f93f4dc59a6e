//! What a server is asked about itself, and what it says.

use redis::{Pipeline, Value};

use super::decode::text;

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

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::identity;

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
}
