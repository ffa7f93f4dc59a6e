//! `redis-lock`: a mutex by `SET NX`, polling, without renewal.

use std::{sync::Arc, time::Duration};

use redis_lock::{LockAcrossOptions, lock_across};
use redis027::{Client, aio::MultiplexedConnection};
use tokio::sync::Mutex;

use super::{Body, Mode, Setup, System};

#[derive(Clone)]
pub(crate) struct RedisLock {
    connection: MultiplexedConnection,
    lease: Duration,
    retry: Duration,
}

impl System for RedisLock {
    async fn connect(setup: &Setup) -> Self {
        let client = Client::open(setup.url.as_str()).expect("a valid URL");
        let connection = client.get_multiplexed_async_connection().await;
        Self {
            connection: connection.expect("the server takes connections"),
            lease: setup.lease,
            retry: setup.polling.interval(LockAcrossOptions::default().retry),
        }
    }

    async fn locked<B: Body>(&self, _mode: Mode, key: &str, body: B) -> B::Output {
        // It wants a mutex around the connection; with one for each call it still pipelines.
        let connection = Arc::new(Mutex::new(self.connection.clone()));
        let options = LockAcrossOptions {
            ttl: self.lease,
            retry: self.retry,
            duration: Duration::from_hours(1),
        };
        let output = lock_across(&[connection], key, body, options).await;
        output.expect("the lock is granted and was held")
    }
}
