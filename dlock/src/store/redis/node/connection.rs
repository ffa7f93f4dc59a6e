//! A connection, and requests on it.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, Pipeline, RedisConnectionInfo, RedisError, Value,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::gather::Gather;
use super::under_way::{Entered, UnderWay};
use crate::clock::{Instant, timeout_at};
use crate::store::Patience;
use crate::store::redis::wire::Preface;
use crate::tasks::{self, AbortHandle, Place};

/// A connection that many tasks share. It closes with its last clone.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    multiplexed: MultiplexedConnection,
    pub(super) under_way: UnderWay,
    _driver: Arc<Driver>,
    /// Whether the driver depends on a runtime of the user's, and can be seen to run.
    is_lent: bool,
}

/// A node's connection, with a number to tell it from its successors.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(super) serial: u64,
}

impl Session {
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }
}

/// The task that writes and reads, for as long as this lives.
#[derive(Debug)]
struct Driver(AbortHandle);

/// After how long a request stops waiting for a driver that should have run and has not: its runtime is not driven, or is
/// blocked, and both may last.
const STALLED: Duration = Duration::from_millis(100);

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The runtime that should send it does not run.
    Stalled,
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
            is_lent: !Place::here().is_own(),
        })
    }

    /// Whether a runtime of the user's drives it.
    pub(super) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Sends one command. The reply may be a [`Value::ServerError`].
    pub(crate) async fn request(&mut self, cmd: &Cmd, until: Instant) -> Result<Value, NoAnswer> {
        self.request_at(Instant::now(), cmd, until, || false).await
    }

    /// [`request`](Self::request), now. While the answer is late, `late` is asked whether to give up if the connection is in doubt.
    pub(crate) async fn request_at(
        &mut self,
        now: Instant,
        cmd: &Cmd,
        patience: impl Into<Patience>,
        late: impl FnMut() -> bool,
    ) -> Result<Value, NoAnswer> {
        let entered = self.under_way.enter();
        let reply = pin!(self.multiplexed.send_packed_command(cmd));
        answer(reply, &entered, self.is_lent, now, patience.into(), late).await
    }

    /// Sends one command behind its preface. What that is answered does not matter.
    pub(crate) async fn request_behind(
        &mut self,
        preface: Preface,
        cmd: Cmd,
        patience: Patience,
        late: impl FnMut() -> bool,
    ) -> Result<Value, NoAnswer> {
        let both = preface.before(cmd);
        let mut replies = self.request_replies(&both, 2, patience, late).await?;
        Ok(replies.swap_remove(1))
    }

    /// Sends several commands in one go. Each reply may be a [`Value::ServerError`].
    pub(crate) async fn request_all(
        &mut self,
        pipeline: &Pipeline,
        patience: impl Into<Patience>,
    ) -> Result<Vec<Value>, NoAnswer> {
        self.request_replies(pipeline, pipeline.len(), patience, || false)
            .await
    }

    /// [`request_all`](Self::request_all), where so many replies come: what a server sends unasked about subscriptions counts
    /// as one.
    pub(crate) async fn request_replies(
        &mut self,
        pipeline: &Pipeline,
        count: usize,
        patience: impl Into<Patience>,
        late: impl FnMut() -> bool,
    ) -> Result<Vec<Value>, NoAnswer> {
        let entered = self.under_way.enter();
        let replies = pin!(self.multiplexed.send_packed_commands(pipeline, 0, count));
        let now = Instant::now();
        let values = answer(replies, &entered, self.is_lent, now, patience.into(), late).await?;
        if values.len() != count {
            return Err(NoAnswer::Io(RedisError::from((
                ErrorKind::UnexpectedReturnType,
                "fewer replies than commands",
            ))));
        }
        Ok(values)
    }
}

/// Waits for replies; not for long if the driver should be seen to run, and does not. They are pinned elsewhere: handed over,
/// they would lie in this future a second time, and with it in all that wait for it.
async fn answer<T>(
    mut reply: Pin<&mut impl Future<Output = Result<T, RedisError>>>,
    entered: &Entered<'_>,
    is_lent: bool,
    now: Instant,
    Patience { until, latest }: Patience,
    mut late: impl FnMut() -> bool,
) -> Result<T, NoAnswer> {
    let first = if is_lent {
        until.min(now + STALLED)
    } else {
        until
    };
    let mut outcome = timeout_at(first, reply.as_mut()).await;
    if is_lent && outcome.is_err() {
        if !entered.is_seen() && first == now + STALLED {
            return Err(NoAnswer::Stalled);
        }
        outcome = timeout_at(until, reply.as_mut()).await;
    }
    if outcome.is_err() {
        late();
    }
    // A server that is slow would be slower if it was asked again.
    while outcome.is_err() && Instant::now() < latest {
        let next = entered.look(until - now);
        if late() && entered.is_doubted() {
            break;
        }
        let either = async {
            tokio::select! {
                biased;
                reply = reply.as_mut() => Some(reply),
                () = entered.given_up() => None,
            }
        };
        match timeout_at(latest.min(Instant::now() + next), either).await {
            Ok(Some(reply)) => outcome = Ok(reply),
            Ok(None) => break,
            Err(_) => {}
        }
    }
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
