//! What one server says about which nodes serve which slots.

use redis::{Pipeline, Value};

use super::decode::text;
use crate::slot::Slot;
use crate::store::redis::address::Address;

/// A server's answer: ranges of slots with their masters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    /// The server that said so.
    pub(crate) by: Address,
    /// The latest change of the cluster that the server has heard of; `None` outside of a cluster.
    pub(crate) epoch: Option<u64>,
    pub(crate) ranges: Vec<Range>,
}

/// A range of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u16,
    pub(crate) last: u16,
    pub(crate) master: Address,
}

/// Asks a node of a cluster for its view.
pub(crate) fn slots_and_epoch() -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    pipeline.cmd("CLUSTER").arg("SLOTS");
    pipeline.cmd("CLUSTER").arg("INFO");
    pipeline
}

impl View {
    /// One server that serves everything.
    pub(crate) fn standalone(address: &Address) -> Self {
        Self {
            by: address.clone(),
            epoch: None,
            ranges: vec![Range {
                first: 0,
                last: Slot::COUNT - 1,
                master: address.clone(),
            }],
        }
    }

    /// Reads the answers of `asked` to that; `None` if they are not. Without the right to the second one the view counts
    /// as the oldest.
    pub(crate) fn of_cluster(answers: &[Value], asked: &Address) -> Option<Self> {
        let [Value::Array(entries), info] = answers else {
            return None;
        };
        let mut ranges = Vec::with_capacity(entries.len());
        for entry in entries {
            let Value::Array(entry) = entry else {
                return None;
            };
            let [
                Value::Int(first),
                Value::Int(last),
                Value::Array(master),
                ..,
            ] = entry.as_slice()
            else {
                return None;
            };
            let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
            if first > last || last >= Slot::COUNT {
                return None;
            }
            // A master without a known address leaves its slots unserved for now.
            if let Some(master) = read_address(master, asked) {
                ranges.push(Range {
                    first,
                    last,
                    master,
                });
            }
        }
        ranges.sort_unstable_by_key(|range| range.first);
        Some(Self {
            by: asked.clone(),
            epoch: Some(epoch(info).unwrap_or(0)),
            ranges,
        })
    }

    /// Takes those out whose master is one of these; one of them, if there was any.
    pub(crate) fn forget(&mut self, stranger: impl Fn(&Address) -> bool) -> Option<Address> {
        let gone = self.ranges.extract_if(.., |range| stranger(&range.master));
        gone.last().map(|range| range.master)
    }
}

fn epoch(info: &Value) -> Option<u64> {
    text(info)?
        .lines()
        .find_map(|line| line.strip_prefix("cluster_current_epoch:"))
        .and_then(|epoch| epoch.trim().parse().ok())
}

/// Reads `[endpoint, port, id, [metadata]]`. A missing or empty endpoint means the host that was asked;
/// `?` stands for a host name that is not set, and then the metadata may have the IP address.
fn read_address(parts: &[Value], asked: &Address) -> Option<Address> {
    let [host, Value::Int(port), rest @ ..] = parts else {
        return None;
    };
    let port = u16::try_from(*port).ok().filter(|port| *port > 0)?;
    match host {
        Value::Nil => Some(Address::new(&asked.host, port)),
        host => match text(host)? {
            "" => Some(Address::new(&asked.host, port)),
            "?" => ip(rest.get(1)?).map(|ip| Address::new(ip, port)),
            host => Some(Address::new(host, port)),
        },
    }
}

/// The `ip` of a node's metadata: a map, or a flat list of names and values.
fn ip(metadata: &Value) -> Option<&str> {
    let found = match metadata {
        Value::Map(pairs) => pairs
            .iter()
            .find(|(name, _)| text(name) == Some("ip"))
            .map(|(_, value)| value),
        Value::Array(flat) => flat
            .chunks_exact(2)
            .find(|pair| text(&pair[0]) == Some("ip"))
            .map(|pair| &pair[1]),
        _ => None,
    };
    text(found?).filter(|ip| !ip.is_empty())
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::View;
    use crate::store::redis::address::Address;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn entry(first: i64, last: i64, host: Value, metadata: Vec<Value>) -> Value {
        let node = vec![host, Value::Int(7001), bulk("id"), Value::Array(metadata)];
        let replica = vec![bulk("10.0.0.9"), Value::Int(7009), bulk("id2")];
        Value::Array(vec![
            Value::Int(first),
            Value::Int(last),
            Value::Array(node),
            Value::Array(replica),
        ])
    }

    #[test]
    fn hosts_come_in_many_ways() {
        let asked = Address::new("10.0.0.1", 7000);
        let ip = || vec![bulk("ip"), bulk("10.0.0.7")];
        let slots = Value::Array(vec![
            entry(400, 499, bulk("?"), ip()),
            entry(0, 99, bulk("10.0.0.2"), Vec::new()),
            entry(100, 199, Value::Nil, ip()),
            entry(200, 299, bulk(""), ip()),
            entry(300, 399, bulk("redis-1.local"), ip()),
            entry(500, 599, bulk("?"), Vec::new()),
        ]);
        let info = bulk("a:1\r\ncluster_current_epoch:6\r\n");
        let view = View::of_cluster(&[slots, info], &asked).expect("well-formed");
        assert_eq!(view.epoch, Some(6));
        let hosts: Vec<_> = view
            .ranges
            .iter()
            .map(|range| &*range.master.host)
            .collect();
        assert_eq!(
            hosts,
            [
                "10.0.0.2",
                "10.0.0.1",
                "10.0.0.1",
                "redis-1.local",
                "10.0.0.7"
            ]
        );
        assert!(view.ranges.iter().all(|range| range.master.port == 7001));
    }

    #[test]
    fn nonsense_is_no_view() {
        let asked = Address::new("h", 1);
        for value in [
            Value::Nil,
            Value::Array(vec![Value::Int(1)]),
            Value::Array(vec![entry(5, 4, bulk("h"), Vec::new())]),
            Value::Array(vec![entry(0, 16384, bulk("h"), Vec::new())]),
        ] {
            let answers = [value, Value::Nil];
            assert_eq!(View::of_cluster(&answers, &asked), None, "{answers:?}");
        }
    }
}
