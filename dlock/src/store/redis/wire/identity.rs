//! What tells a server from others, whatever name it is reached by.

use redis::{Pipeline, Value};

use super::value::text;

/// The lines of `INFO` that no two servers have in common. Only a master and its replicas share the second one.
const FIELDS: [&str; 2] = ["run_id:", "master_replid:"];

/// Asks a server who it is. (Redis 6.2 takes one section at a time.)
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
