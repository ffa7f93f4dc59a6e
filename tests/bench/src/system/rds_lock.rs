//! `rds_lock`: read/write locks, polling, with a renewal task for each hold.

use rds_lock::{Locker, Mode as LockerMode};
use redis032::{Client, aio::ConnectionManager};

use super::{Mode, POLL, Setup, System};

#[derive(Clone)]
pub(crate) struct RdsLock {
    connection: ConnectionManager,
    lease_ms: u64,
}

impl System for RdsLock {
    async fn connect(setup: &Setup) -> Self {
        let client = Client::open(setup.url.as_str()).expect("a valid URL");
        let connection = ConnectionManager::new(client).await;
        Self {
            connection: connection.expect("the server takes connections"),
            lease_ms: u64::try_from(setup.lease.as_millis()).expect("a short lease"),
        }
    }

    async fn locked<F>(&self, mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mode = match mode {
            Mode::Read => LockerMode::R,
            Mode::Write => LockerMode::W,
        };
        let poll_ms = u64::try_from(POLL.as_millis()).expect("a short poll");
        let release = Locker::new(self.connection.clone())
            .mode(&mode)
            .to(self.lease_ms)
            .ext_int(self.lease_ms / 3)
            .rty_int(poll_ms)
            .rty_to(-1)
            .lock(key.to_owned())
            .await
            .expect("the lock is granted");
        let output = body.await;
        release.await.expect("the lock was held");
        output
    }
}
