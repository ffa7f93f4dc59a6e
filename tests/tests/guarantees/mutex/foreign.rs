//! Clients in other languages, by what they send.

use std::time::Duration;

use redis::{AsyncConnectionConfig, Script, aio::MultiplexedConnection};

/// A client that takes a mutex as redis-py's `Lock` and node-redlock do.
#[derive(Clone)]
pub(crate) struct Foreign {
    connection: MultiplexedConnection,
    key: String,
    token: String,
}

impl Foreign {
    pub(crate) async fn new(url: &str, key: &str) -> Self {
        let client = redis::Client::open(url).expect("a valid URL");
        // However long it takes: the machine may have other things to do.
        let patient = AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&patient);
        let connection = connection.await;
        // As `uuid.uuid1().hex`.
        let token = format!("{:032x}", fastrand::u128(..));
        Self {
            connection: connection.expect("the server answers"),
            key: key.to_owned(),
            token,
        }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// `acquire(blocking=False)`
    pub(crate) async fn acquire(&self, lease: Duration) -> bool {
        let mut set = redis::cmd("SET");
        let lease = u64::try_from(lease.as_millis()).expect("short");
        set.arg(&self.key).arg(&self.token).arg("NX");
        set.arg("PX").arg(lease);
        let taken: Option<String> = self.query(&set).await;
        taken.is_some()
    }

    /// `release()`: whether the lock was this client's.
    pub(crate) async fn release(&self) -> bool {
        let script = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
        self.run(script, 0).await
    }

    /// `extend(replace_ttl=True)`, `reacquire()`: whether the lock was this client's.
    pub(crate) async fn extend(&self, lease: Duration) -> bool {
        let script = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end \
                      return 0";
        self.run(script, u64::try_from(lease.as_millis()).expect("short"))
            .await
    }

    /// The value of the key.
    pub(crate) async fn value(&self) -> Option<String> {
        self.query(redis::cmd("GET").arg(&self.key)).await
    }

    /// The rest of the hold, in ms; negative without one, or without an end.
    pub(crate) async fn left(&self) -> i64 {
        self.query(redis::cmd("PTTL").arg(&self.key)).await
    }

    /// Removes the key, whichever program has it.
    pub(crate) async fn remove(&self) {
        let () = self.query(redis::cmd("DEL").arg(&self.key)).await;
    }

    async fn run(&self, script: &str, millis: u64) -> bool {
        let script = Script::new(script);
        let mut call = script.key(&self.key);
        call.arg(&self.token).arg(millis);
        let mut connection = self.connection.clone();
        let done: i64 = call
            .invoke_async(&mut connection)
            .await
            .expect("the script runs");
        done == 1
    }

    async fn query<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let mut connection = self.connection.clone();
        command
            .query_async(&mut connection)
            .await
            .expect("the server answers")
    }
}
