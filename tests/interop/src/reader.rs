//! Reads a key of one server, which may be dead, frozen or empty.

use std::time::Duration;

use parking_lot::Mutex;
use redis::{
    AsyncConnectionConfig, AsyncTypedCommands as _, Client, RedisResult, aio::MultiplexedConnection,
};

/// A later answer does not count.
const PATIENCE: Duration = Duration::from_millis(100);

/// A connection, made anew when it is needed.
#[derive(Debug)]
pub(crate) struct Reader {
    client: Client,
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl Reader {
    pub(crate) fn new(port: u16) -> Self {
        let url = format!("redis://127.0.0.1:{port}");
        Self {
            client: Client::open(url).expect("a valid URL"),
            connection: Mutex::default(),
        }
    }

    /// The value of the key; an error if the server does not answer.
    pub(crate) async fn get(&self, key: &str) -> RedisResult<Option<String>> {
        let kept = self.connection.lock().clone();
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let value = connection.get(key).await;
        *self.connection.lock() = value.is_ok().then_some(connection);
        value
    }

    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        Client::get_multiplexed_async_connection_with_config(&self.client, &config).await
    }
}
