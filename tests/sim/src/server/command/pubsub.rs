//! Commands about channels.

use super::Call;
use super::number::count;
use super::scan::matches;
use super::unknown::unknown_subcommand;
use crate::server::config::Flavour;
use crate::server::link::{LinkItem, Message};
use crate::server::node::Node;
use crate::server::resp::Reply;

pub(super) fn publish(node: &mut Node, call: &Call<'_>) -> Reply {
    send(node, call, false)
}

pub(super) fn spublish(node: &mut Node, call: &Call<'_>) -> Reply {
    send(node, call, true)
}

/// Counts who listens here; in a cluster others hear of it as well: all of them, or those of the shard.
fn send(node: &mut Node, call: &Call<'_>, sharded: bool) -> Reply {
    let (channel, message) = (call.args[1], call.args[2]);
    let heard = node.tell(channel, message, sharded);
    if let Some(view) = &node.cluster {
        let to = if sharded {
            view.shard()
        } else {
            view.others().collect()
        };
        let message = Message {
            channel: channel.into(),
            text: message.into(),
            sharded,
        };
        for other in to {
            node.send(other, LinkItem::Message(message.clone()));
        }
    }
    Reply::Int(heard)
}

fn listen(node: &mut Node, call: &Call<'_>, sharded: bool) -> Reply {
    let one = |channel: &&[u8]| node.listen(call.caller.conn, channel, sharded);
    Reply::Several(call.args[1..].iter().map(one).collect())
}

fn unlisten(node: &mut Node, call: &Call<'_>, sharded: bool) -> Reply {
    let conn = call.caller.conn;
    if call.args.len() == 1 {
        return node.unlisten(conn, None, sharded);
    }
    let one = |channel: &&[u8]| node.unlisten(conn, Some(channel), sharded);
    Reply::Several(call.args[1..].iter().map(one).collect())
}

pub(super) fn subscribe(node: &mut Node, call: &Call<'_>) -> Reply {
    listen(node, call, false)
}

pub(super) fn ssubscribe(node: &mut Node, call: &Call<'_>) -> Reply {
    listen(node, call, true)
}

pub(super) fn unsubscribe(node: &mut Node, call: &Call<'_>) -> Reply {
    unlisten(node, call, false)
}

pub(super) fn sunsubscribe(node: &mut Node, call: &Call<'_>) -> Reply {
    unlisten(node, call, true)
}

/// `PUBSUB CHANNELS | NUMSUB | SHARDCHANNELS | SHARDNUMSUB`.
pub(super) fn pubsub(node: &mut Node, call: &Call<'_>) -> Reply {
    let old = node.flavour == Flavour::Redis62;
    let (listeners, list) = match &*call.args[1].to_ascii_uppercase() {
        b"CHANNELS" if call.args.len() <= 3 => (&node.channels, true),
        b"NUMSUB" => (&node.channels, false),
        b"SHARDCHANNELS" if call.args.len() <= 3 && !old => (&node.shard_channels, true),
        b"SHARDNUMSUB" if !old => (&node.shard_channels, false),
        _ => return unknown_subcommand(node.flavour, call.args),
    };
    let rest = &call.args[2..];
    if list {
        let is_wanted =
            |channel: &&Vec<u8>| rest.first().is_none_or(|pattern| matches(pattern, channel));
        return Reply::Array(
            listeners
                .keys()
                .filter(is_wanted)
                .map(Reply::bulk)
                .collect(),
        );
    }
    let one = |channel: &&[u8]| {
        [
            Reply::bulk(channel),
            count(listeners.get(*channel).map_or(0, Vec::len)),
        ]
    };
    Reply::Array(rest.iter().flat_map(one).collect())
}
