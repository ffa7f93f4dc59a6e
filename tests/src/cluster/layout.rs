//! The role and the slots of each node at the start.

use std::fmt::Write as _;

use crate::{port::Port, server::version, slot::SLOTS};

/// A cluster's first configuration, written to each node's `nodes.conf`: the nodes start as one cluster,
/// without the many round trips of `CLUSTER MEET` and its gossip.
#[derive(Debug)]
pub(crate) struct Layout {
    nodes: Vec<Node>,
    masters: usize,
}

#[derive(Debug)]
struct Node {
    id: String,
    address: String,
    role: Role,
}

#[derive(Debug)]
enum Role {
    Master { epoch: usize, slots: (usize, usize) },
    Replica { of: usize },
}

impl Layout {
    pub(crate) fn new(masters: usize, ports: &[Port], announced: &[u16]) -> Self {
        let shards: Vec<String> = (0..masters).map(|_| random_id()).collect();
        let node = |(number, port): (usize, &Port)| Node {
            id: random_id(),
            address: format!(
                "127.0.0.1:{}@{}{}",
                announced[number],
                port.bus(),
                shard_field(&shards[number % masters])
            ),
            role: if number < masters {
                let first = |master: usize| usize::from(SLOTS) * master / masters;
                Role::Master {
                    epoch: number + 1,
                    slots: (first(number), first(number + 1) - 1),
                }
            } else {
                Role::Replica {
                    of: number % masters,
                }
            },
        };
        Self {
            nodes: ports.iter().enumerate().map(node).collect(),
            masters,
        }
    }

    /// The configuration file as node number `myself` sees it.
    pub(crate) fn nodes_conf(&self, myself: usize) -> String {
        let mut text = String::new();
        for (number, Node { id, address, role }) in self.nodes.iter().enumerate() {
            let me = if number == myself { "myself," } else { "" };
            match role {
                Role::Master { epoch, slots } => writeln!(
                    text,
                    "{id} {address} {me}master - 0 0 {epoch} connected {}-{}",
                    slots.0, slots.1
                ),
                Role::Replica { of } => writeln!(
                    text,
                    "{id} {address} {me}slave {} 0 0 {} connected",
                    self.nodes[*of].id,
                    of + 1
                ),
            }
            .expect("a String takes everything");
        }
        writeln!(text, "vars currentEpoch {} lastVoteEpoch 0", self.masters)
            .expect("a String takes everything");
        text
    }

    pub(crate) fn into_ids(self) -> Vec<String> {
        self.nodes.into_iter().map(|node| node.id).collect()
    }
}

fn random_id() -> String {
    (0..40).map(|_| fastrand::digit(16)).collect()
}

/// The shard of a node, as part of its address. Servers that know of shards die at the first message for a
/// sharded channel when the file does not name them; older ones take the field for a host name.
fn shard_field(shard: &str) -> String {
    if version() >= (7, 2) {
        format!(",,tls-port=0,shard-id={shard}")
    } else {
        String::new()
    }
}
