//! What one node thinks of the cluster: the reply of `CLUSTER NODES`.

use std::{collections::BTreeMap, ops::RangeInclusive};

/// A parsed reply of `CLUSTER NODES`.
#[derive(Debug)]
pub(crate) struct View {
    nodes: Vec<Node>,
}

/// One line of it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) myself: bool,
    pub(crate) master: Option<String>,
    /// Not known by its own name yet.
    handshake: bool,
    pub(crate) epoch: u64,
    pub(crate) slots: Vec<RangeInclusive<u16>>,
}

impl View {
    pub(crate) fn parse(text: &str) -> Self {
        Self {
            nodes: text.lines().map(Node::parse).collect(),
        }
    }

    pub(crate) fn myself(&self) -> &Node {
        let mut nodes = self.nodes.iter();
        nodes
            .find(|node| node.myself)
            .expect("CLUSTER NODES names the node itself")
    }

    /// Slot -> id of its owner.
    pub(crate) fn owners(&self) -> BTreeMap<u16, &str> {
        let mut owners = BTreeMap::new();
        for node in &self.nodes {
            for range in &node.slots {
                owners.extend(range.clone().map(|slot| (slot, node.id.as_str())));
            }
        }
        owners
    }

    /// Owner of slots -> the epoch of its claim.
    pub(crate) fn claims(&self) -> BTreeMap<&str, u64> {
        let owners = self
            .nodes
            .iter()
            .filter(|node| !node.handshake && !node.slots.is_empty());
        owners.map(|node| (node.id.as_str(), node.epoch)).collect()
    }
}

impl Node {
    fn parse(line: &str) -> Self {
        let fields: Vec<&str> = line.split(' ').collect();
        let [
            id,
            _address,
            flags,
            master,
            _ping,
            _pong,
            epoch,
            _link,
            slots @ ..,
        ] = &fields[..]
        else {
            panic!("not a line of CLUSTER NODES: {line}");
        };
        Self {
            id: (*id).to_owned(),
            myself: flags.split(',').any(|flag| flag == "myself"),
            handshake: flags.split(',').any(|flag| flag == "handshake"),
            master: (*master != "-").then(|| (*master).to_owned()),
            epoch: epoch.parse().expect("the epoch is a number"),
            // "[5461->-<id>]" stands for a migration that has begun.
            slots: slots
                .iter()
                .filter(|slots| !slots.starts_with('['))
                .map(|slots| parse_range(slots))
                .collect(),
        }
    }

    pub(crate) fn owns(&self, slot: u16) -> bool {
        self.slots.iter().any(|range| range.contains(&slot))
    }
}

fn parse_range(text: &str) -> RangeInclusive<u16> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().expect("a slot is a number");
    number(first)..=number(last)
}
