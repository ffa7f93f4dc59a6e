//! A connection, and requests on it.

use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, Pipeline, RedisConnectionInfo, RedisError, Value,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::gather::Gather;
use super::under_way::{Entered, UnderWay};
use crate::clock::{Elapsed, Instant, timeout_at};
use crate::store::redis::wire::Preface;
use crate::tasks::{self, AbortHandle};

/// A connection that many tasks share. It closes with its last clone.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    multiplexed: MultiplexedConnection,
    under_way: UnderWay,
    _driver: Arc<Driver>,
}

/// A node's connection, with a number to tell it from its successors.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(super) serial: u64,
}

/// The task that writes and reads, for as long as this lives.
#[derive(Debug)]
struct Driver(AbortHandle);

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// Not within the time there was.
    Silence,
    /// The connection failed.
    Io(RedisError),
}

impl Connection {
    /// Logs in over a stream, and drives the connection from here on.
    pub(super) async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        under_way: UnderWay,
        login: &RedisConnectionInfo,
        config: AsyncConnectionConfig,
    ) -> Result<Self, RedisError> {
        let stream = Gather::new(stream, under_way.clone());
        let (multiplexed, driver) =
            MultiplexedConnection::new_with_config(login, stream, config).await?;
        let driver = Driver(tasks::spawn(driver));
        Ok(Self {
            multiplexed,
            under_way,
            _driver: Arc::new(driver),
        })
    }

    /// Sends one command. The reply may be a [`Value::ServerError`].
    pub(crate) async fn request(&mut self, cmd: &Cmd, until: Instant) -> Result<Value, NoAnswer> {
        let entered = self.under_way.enter();
        let reply = self.multiplexed.send_packed_command(cmd);
        answer(timeout_at(until, reply).await, &entered)
    }

    /// Sends one command behind its preface. What that is answered does not matter.
    pub(crate) async fn request_behind(
        &mut self,
        preface: Preface,
        cmd: Cmd,
        until: Instant,
    ) -> Result<Value, NoAnswer> {
        let mut replies = self.request_all(&preface.before(cmd), until).await?;
        Ok(replies.swap_remove(1))
    }

    /// Sends several commands in one go. Each reply may be a [`Value::ServerError`].
    pub(crate) async fn request_all(
        &mut self,
        pipeline: &Pipeline,
        until: Instant,
    ) -> Result<Vec<Value>, NoAnswer> {
        let entered = self.under_way.enter();
        let count = pipeline.len();
        let replies = self.multiplexed.send_packed_commands(pipeline, 0, count);
        let values = answer(timeout_at(until, replies).await, &entered)?;
        if values.len() != count {
            return Err(NoAnswer::Io(RedisError::from((
                ErrorKind::UnexpectedReturnType,
                "fewer replies than commands",
            ))));
        }
        Ok(values)
    }
}

/// What came of waiting for replies.
fn answer<T>(
    outcome: Result<Result<T, RedisError>, Elapsed>,
    entered: &Entered<'_>,
) -> Result<T, NoAnswer> {
    match outcome {
        Ok(replies) => replies
            .inspect(|_| entered.answered())
            .map_err(NoAnswer::Io),
        Err(_) => Err(NoAnswer::Silence),
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}
