//! Reads a key of one server, which may be dead, frozen or empty.

use std::time::Duration;

use redis::{
    AsyncConnectionConfig, AsyncTypedCommands as _, Client, RedisResult, aio::MultiplexedConnection,
};
use tokio::sync::Mutex;

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
            connection: Mutex::new(None),
        }
    }

    /// What the key says; an error if the server does not answer.
    pub(crate) async fn get(&self, key: &str) -> RedisResult<Option<String>> {
        let mut connection = self.connection().await?;
        let value = connection.get(key).await;
        if value.is_err() {
            *self.connection.lock().await = None;
        }
        value
    }

    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let mut kept = self.connection.lock().await;
        if let Some(connection) = &*kept {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let made = self
            .client
            .get_multiplexed_async_connection_with_config(&config);
        Ok(kept.insert(made.await?).clone())
    }
}
