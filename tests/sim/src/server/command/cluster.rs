//! `CLUSTER`: what a server knows of the others.

use super::Call;
use super::connection::NO_CLUSTER;
use super::number::{count, integer};
use super::unknown::unknown_subcommand;
use crate::server::cluster::{View, slot_of};
use crate::server::config::Flavour;
use crate::server::fleet::NodeId;
use crate::server::node::Node;
use crate::server::resp::Reply;

/// `CLUSTER SLOTS | INFO | MYID | KEYSLOT | COUNTKEYSINSLOT`.
pub(super) fn cluster(node: &mut Node, call: &Call<'_>) -> Reply {
    let Some(view) = &node.cluster else {
        return Reply::error(NO_CLUSTER);
    };
    match (&*call.args[1].to_ascii_uppercase(), &call.args[2..]) {
        (b"SLOTS", []) => slots(node, view),
        (b"INFO", []) => Reply::Text(info(view)),
        (b"MYID", []) => Reply::bulk(name(node.id)),
        (b"KEYSLOT", [key]) => Reply::Int(slot_of(key).into()),
        (b"COUNTKEYSINSLOT", [slot]) => {
            match integer(slot).and_then(|slot| u16::try_from(slot).ok()) {
                Some(slot @ ..16384) => count(
                    node.data
                        .iter()
                        .filter(|(key, _)| slot_of(key) == slot)
                        .count(),
                ),
                _ => Reply::error("ERR Invalid slot"),
            }
        }
        _ => unknown_subcommand(node.flavour, call.args),
    }
}

/// The name of a server: forty digits.
fn name(node: NodeId) -> String {
    format!("{:040x}", node.0 + 1)
}

fn slots(node: &Node, view: &View) -> Reply {
    let peer = |peer: NodeId| {
        let port = i64::from(node.config.first_port) + i64::try_from(peer.0).unwrap_or(0);
        let mut parts = vec![
            Reply::bulk(&node.config.host),
            Reply::Int(port),
            Reply::bulk(name(peer)),
        ];
        if node.flavour != Flavour::Redis62 {
            parts.push(Reply::Map(Vec::new()));
        }
        Reply::Array(parts)
    };
    let range = |(first, last, master): (u16, u16, NodeId)| {
        let mut parts = vec![
            Reply::Int(first.into()),
            Reply::Int(last.into()),
            peer(master),
        ];
        let all = (0..view.nodes.len()).map(NodeId);
        let replicas = all.filter(|other| {
            view.peer(*other).replica_of == Some(master) && !view.peer(*other).failed
        });
        parts.extend(replicas.map(peer));
        Reply::Array(parts)
    };
    Reply::Array(view.served().into_iter().map(range).collect())
}

fn info(view: &View) -> String {
    let failed = |node: NodeId| view.peer(node).failed;
    let size = |wanted: bool| -> u32 {
        let ranges = view
            .owners
            .iter()
            .filter(|(_, _, owner)| failed(*owner) == wanted);
        ranges
            .map(|(first, last, _)| u32::from(last - first) + 1)
            .sum()
    };
    let masters = (0..view.nodes.len())
        .map(NodeId)
        .filter(|node| view.owners.has(*node))
        .count();
    format!(
        "cluster_state:{}\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:{}\r\ncluster_slots_pfail:0\r\n\
         cluster_slots_fail:{}\r\ncluster_known_nodes:{}\r\ncluster_size:{masters}\r\n\
         cluster_current_epoch:{}\r\ncluster_my_epoch:{}\r\n",
        if view.down { "fail" } else { "ok" },
        size(false),
        size(true),
        view.nodes.len(),
        view.epoch,
        view.peer(view.my_master()).epoch,
    )
}
