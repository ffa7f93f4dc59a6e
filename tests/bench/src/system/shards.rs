//! The least that can be called routing: one connection per node and a table of slots.

use std::sync::Arc;

use dlock::Slot;
use redis::{AsyncConnectionConfig, Client, Cmd, Script, Value, aio::MultiplexedConnection, cmd};

/// A connection to each master, picked by slot.
#[derive(Clone)]
pub(super) struct Shards {
    nodes: Arc<[MultiplexedConnection]>,
    /// Slot to node; empty for a single server.
    slots: Arc<[u8]>,
}

impl Shards {
    /// Connects, and loads the scripts everywhere.
    pub(super) async fn connect(url: &str, scripts: &[&Script]) -> Self {
        let seed = url.split(',').next().unwrap_or(url);
        let first = connection(seed, AsyncConnectionConfig::new()).await;
        let ranges = cmd("CLUSTER")
            .arg("SLOTS")
            .query_async::<Vec<(u16, u16, Vec<Value>)>>(&mut first.clone())
            .await;
        let (nodes, slots) = match ranges {
            Err(_) => (vec![first], vec![]),
            Ok(ranges) => {
                let mut nodes = Vec::new();
                let mut slots = vec![0; usize::from(Slot::COUNT)];
                for (number, (from, to, master)) in ranges.into_iter().enumerate() {
                    let [host, port, ..] = &master[..] else {
                        panic!("a master without an address: {master:?}");
                    };
                    let host: String = redis::from_redis_value(host.clone()).expect("a name");
                    let port: u16 = redis::from_redis_value(port.clone()).expect("a port");
                    let url = format!("redis://{host}:{port}");
                    nodes.push(connection(&url, AsyncConnectionConfig::new()).await);
                    let number = u8::try_from(number).expect("a small cluster");
                    slots[usize::from(from)..=usize::from(to)].fill(number);
                }
                (nodes, slots)
            }
        };
        for node in &nodes {
            for script in scripts {
                let loaded = script.load_async(&mut node.clone()).await;
                loaded.expect("the server takes the script");
            }
        }
        Self {
            nodes: nodes.into(),
            slots: slots.into(),
        }
    }

    /// Sends one command to where `key` lives.
    pub(super) async fn send(&self, key: &str, command: &Cmd) -> Value {
        let node = if self.slots.is_empty() {
            0
        } else {
            usize::from(self.slots[usize::from(Slot::of(key).as_u16())])
        };
        let mut connection = self.nodes[node].clone();
        let answer = connection.send_packed_command(command).await;
        answer
            .and_then(Value::extract_error)
            .expect("the server runs the script")
    }
}

/// A connection that waits for replies however long they take: that is what is measured.
pub(crate) async fn connection(url: &str, config: AsyncConnectionConfig) -> MultiplexedConnection {
    let client = Client::open(url).expect("a valid URL");
    let config = config.set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config);
    connection.await.expect("the server takes connections")
}

/// The command that runs a loaded script on one key; its arguments are to be added.
pub(crate) fn evalsha(script: &Script, key: &str) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(script.get_hash()).arg(1).arg(key);
    command
}
