//! `distkit`: read/write locks, polling, with a renewal task for each hold.

use std::time::Duration;

use distkit::{
    DistkitRedisKey,
    lock::{LockOptions, RwLock},
};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use super::{Body, Mode, Setup, System, run_under};

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

    async fn locked<B: Body>(&self, mode: Mode, key: &str, body: B) -> B::Output {
        // It takes no colons.
        let key = DistkitRedisKey::new_or_panic(key.replace(':', "-"));
        let options = LockOptions::builder(key, self.connection.clone())
            .ttl(self.lease)
            .retry_interval(self.poll)
            .build();
        let lock = RwLock::new(options);
        match mode {
            Mode::Read => run_under!(lock.read(), body),
            Mode::Write => run_under!(lock.write(), body),
        }
    }
}
