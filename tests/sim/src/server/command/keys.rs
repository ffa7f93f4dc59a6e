//! Commands on keys of any kind.

use super::Call;
use super::number::count;
use crate::server::data::{Effect, Value};
use crate::server::node::Node;
use crate::server::resp::Reply;

pub(super) fn del(node: &mut Node, call: &Call<'_>) -> Reply {
    let mut gone = 0;
    for key in &call.args[1..] {
        gone += usize::from(node.look_up(key).is_some() && node.drop_key(key));
    }
    count(gone)
}

pub(super) fn exists(node: &mut Node, call: &Call<'_>) -> Reply {
    count(
        call.args[1..]
            .iter()
            .filter(|key| node.look_up(key).is_some())
            .count(),
    )
}

pub(super) fn kind(node: &mut Node, call: &Call<'_>) -> Reply {
    Reply::Status(match node.look_up(call.args[1]).map(|entry| &entry.value) {
        None => "none".into(),
        Some(Value::Text(_)) => "string".into(),
        Some(Value::Hash(_)) => "hash".into(),
    })
}

pub(super) fn dbsize(node: &mut Node, _: &Call<'_>) -> Reply {
    count(node.data.len())
}

pub(super) fn flushall(node: &mut Node, _: &Call<'_>) -> Reply {
    node.flush();
    Reply::ok()
}

impl Node {
    /// All keys go.
    pub(in super::super) fn flush(&mut self) {
        self.data.clear();
        self.note(|| Effect::Clear);
    }
}
