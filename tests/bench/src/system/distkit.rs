//! `distkit`: read/write locks, polling, with a renewal task for each hold.

use std::time::Duration;

use distkit::{
    DistkitRedisKey,
    lock::{LockOptions, RwLock},
};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use super::{Mode, Setup, System};

const DEFAULT: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(crate) struct Distkit {
    connection: ConnectionManager,
    lease: Duration,
    poll: Duration,
}

impl System for Distkit {
    async fn connect(setup: &Setup) -> Self {
        let client = redis::Client::open(setup.url.as_str()).expect("a valid URL");
        // However long it takes, that is what is measured.
        let config = ConnectionManagerConfig::new().set_response_timeout(None);
        let connection = client.get_connection_manager_with_config(config).await;
        Self {
            connection: connection.expect("the server takes connections"),
            lease: setup.lease,
            poll: setup.polling.interval(DEFAULT),
        }
    }

    async fn locked<F>(&self, mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // It takes no colons.
        let key = DistkitRedisKey::new_or_panic(key.replace(':', "-"));
        let options = LockOptions::builder(key, self.connection.clone())
            .ttl(self.lease)
            .retry_interval(self.poll)
            .build();
        let lock = RwLock::new(options);
        match mode {
            Mode::Read => {
                let guard = lock.read().await.expect("the lock is granted");
                let output = body.await;
                guard.release().await.expect("the lock was held");
                output
            }
            Mode::Write => {
                let guard = lock.write().await.expect("the lock is granted");
                let output = body.await;
                guard.release().await.expect("the lock was held");
                output
            }
        }
    }
}
