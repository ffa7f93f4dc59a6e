//! `rds_lock`: read/write locks, polling, with a renewal task for each hold.

use std::time::Duration;

use rds_lock::{Locker, Mode as LockerMode};
use redis032::{Client, aio::ConnectionManager};

use super::{Body, Mode, Setup, System};

const DEFAULT: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub(crate) struct RdsLock {
    connection: ConnectionManager,
    lease_ms: u64,
    poll_ms: u64,
}

impl System for RdsLock {
    async fn connect(setup: &Setup) -> Self {
        let client = Client::open(setup.url.as_str()).expect("a valid URL");
        let connection = ConnectionManager::new(client).await;
        Self {
            connection: connection.expect("the server takes connections"),
            lease_ms: millis(setup.lease),
            poll_ms: millis(setup.polling.interval(DEFAULT)),
        }
    }

    async fn locked<B: Body>(&self, mode: Mode, key: &str, body: B) -> B::Output {
        let mode = match mode {
            Mode::Read => LockerMode::R,
            Mode::Write => LockerMode::W,
        };
        let release = Locker::new(self.connection.clone())
            .mode(&mode)
            .to(self.lease_ms)
            .ext_int(self.lease_ms / 3)
            .rty_int(self.poll_ms)
            .rty_to(-1)
            .lock(key.to_owned())
            .await
            .expect("the lock is granted");
        let output = body.await;
        release.await.expect("the lock was held");
        output
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("a short time")
}
