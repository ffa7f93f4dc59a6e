//! Commands about the server.

use std::fmt::Write as _;

use super::Call;
use crate::server::node::Node;
use crate::server::resp::Reply;

pub(super) fn time(node: &mut Node, _: &Call<'_>) -> Reply {
    let micros = node.micros();
    let parts = [micros / 1_000_000, micros % 1_000_000];
    Reply::Array(parts.map(|part| Reply::bulk(part.to_string())).to_vec())
}

/// The fields that clients read.
pub(super) fn info(node: &mut Node, _: &Call<'_>) -> Reply {
    let mut text = String::new();
    let mut add = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{name}:{value}\r\n");
    };
    add("redis_version", &node.flavour.version());
    add("role", &if node.is_replica() { "slave" } else { "master" });
    add("cluster_enabled", &u8::from(node.cluster.is_some()));
    add("connected_clients", &node.conns.len());
    let calls = node.script_calls;
    add(
        "cmdstat_evalsha",
        &format_args!(
            "calls={calls},usec={calls},usec_per_call=1.00,rejected_calls=0,failed_calls=0"
        ),
    );
    Reply::Text(text)
}

pub(super) fn role(node: &mut Node, _: &Call<'_>) -> Reply {
    let step = i64::try_from(node.replication.step).unwrap_or(i64::MAX);
    match &node.replication.following {
        None => Reply::Array(vec![
            Reply::bulk("master"),
            Reply::Int(step),
            Reply::Array(Vec::new()),
        ]),
        Some(following) => Reply::Array(vec![
            Reply::bulk("slave"),
            Reply::bulk(&node.config.host),
            Reply::Int(
                i64::from(node.config.first_port) + i64::try_from(following.master.0).unwrap_or(0),
            ),
            Reply::bulk(if following.in_sync {
                "connected"
            } else {
                "sync"
            }),
            Reply::Int(step),
        ]),
    }
}
