//! The lock that most programmers write first: `SET NX PX` with a value of one's own, and a script that deletes it if it is still
//! that. No client renews it, and its holder is not told that it has run out: most do without looking at the clock.

use std::{ops::Range, sync::Arc, time::Duration};

use dlock_load::Patience;
use redis::{
    Cmd, RedisResult,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster::ClusterClient,
    cluster_async::ClusterConnection,
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};

use super::{Guard, Why};

const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(1);
/// What clocks may differ by.
const MARGIN: Duration = Duration::from_millis(2);

/// How it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// A grant is believed for ever.
    None,
    /// Its lease is over by the clock of who has it before the server's.
    Great,
}

/// A client.
#[derive(Clone)]
pub(crate) struct Plain {
    urls: Vec<String>,
    lease: Duration,
    care: Care,
    connection: Arc<Mutex<Option<Connection>>>,
}

#[derive(Clone)]
enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// A key that was set.
pub(crate) struct Owned {
    plain: Plain,
    key: String,
    value: u64,
    /// When its lease is over, for who looks.
    until: Option<Instant>,
}

/// The URLs of the servers in a URL of several.
fn seeds(url: &str) -> Vec<String> {
    let (scheme, rest) = url.split_once("://").expect("URLs have a scheme");
    let (login, hosts) = rest.split_once('@').unwrap_or(("", rest));
    let at = if login.is_empty() { "" } else { "@" };
    let seed = |host| format!("{scheme}://{login}{at}{host}");
    hosts.split(',').map(seed).collect()
}

impl Plain {
    pub(crate) fn new(url: &str, lease: Duration, care: Care) -> Self {
        Self {
            urls: seeds(url),
            lease,
            care,
            connection: Arc::default(),
        }
    }

    /// Tries again and again.
    pub(crate) async fn ask(&self, key: &str, patience: Patience) -> Result<Option<Guard>, Why> {
        let value = fastrand::u64(..);
        let mut set = redis::cmd("SET");
        set.arg(key)
            .arg(value)
            .arg("NX")
            .arg("PX")
            .arg(self.lease.as_millis().to_string());
        let begun = Instant::now();
        loop {
            let until = self.until();
            let got = self.send(&set).await;
            let in_time = until.is_none_or(|until| Instant::now() < until);
            if matches!(got, Ok(redis::Value::Okay)) && in_time {
                return Ok(Some(Guard::Plain(Owned {
                    plain: self.clone(),
                    key: key.to_owned(),
                    value,
                    until,
                })));
            }
            match patience {
                Patience::Try => return got.map(|_| None),
                Patience::For(long) if begun.elapsed() >= Duration::from_nanos(long) => {
                    return Err("Timeout(Wait)".to_owned());
                }
                _ => sleep(Duration::from_micros(fastrand::u64(self.polls()))).await,
            }
        }
    }

    /// Until when it can be relied on if it is got now.
    fn until(&self) -> Option<Instant> {
        let most = self.lease.mul_f64(0.99).saturating_sub(MARGIN);
        (self.care == Care::Great).then(|| Instant::now() + most)
    }

    /// How often it looks whether it is free, in us.
    fn polls(&self) -> Range<u64> {
        match self.care {
            Care::None => 500..3000,
            Care::Great => 5000..100_000,
        }
    }

    async fn send(&self, command: &Cmd) -> Result<redis::Value, Why> {
        let sent = timeout(ANSWER, self.try_send(command)).await;
        let sent = sent.map_err(|_| "Timeout(Request)".to_owned());
        let answer = sent.and_then(|answer| answer.map_err(|error| format!("{:?}", error.kind())));
        if answer.is_err() {
            *self.connection.lock().await = None;
        }
        answer
    }

    async fn try_send(&self, command: &Cmd) -> RedisResult<redis::Value> {
        let connected = self.connection.lock().await.clone();
        let connection = match connected {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        *self.connection.lock().await = Some(connection.clone());
        match connection {
            Connection::Single(mut connection) => connection.req_packed_command(command).await,
            Connection::Cluster(mut connection) => connection.req_packed_command(command).await,
        }
    }

    async fn connect(&self) -> RedisResult<Connection> {
        if let [only] = &self.urls[..] {
            let client = redis::Client::open(only.as_str())?;
            let connection = client.get_multiplexed_async_connection().await?;
            return Ok(Connection::Single(connection));
        }
        let client = ClusterClient::new(self.urls.clone())?;
        Ok(Connection::Cluster(client.get_async_connection().await?))
    }
}

impl Owned {
    pub(crate) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    pub(crate) async fn release(self) -> Result<(), Why> {
        let mut command = redis::cmd("EVAL");
        command.arg(RELEASE).arg(1).arg(&self.key).arg(self.value);
        match self.plain.send(&command).await? {
            redis::Value::Int(1) => Ok(()),
            _ => Err("over, without dlock".to_owned()),
        }
    }
}
