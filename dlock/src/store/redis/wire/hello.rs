//! What a server says it is.

use redis::{Pipeline, Value};

use super::value::text;

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
