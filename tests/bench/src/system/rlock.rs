//! `rlock`: read/write locks, polling, with renewal.

use std::time::Duration;

use rlock::{AcquireOptions, async_lock::RLock};

use super::{Mode, Setup, System};

const DEFAULT: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub(crate) struct Rlock {
    client: RLock,
    options: AcquireOptions,
}

impl System for Rlock {
    async fn connect(setup: &Setup) -> Self {
        let client = RLock::new(setup.url.as_str()).await;
        let options = AcquireOptions::builder()
            .ttl(setup.lease)
            .retry_interval(setup.polling.interval(DEFAULT))
            .build();
        Self {
            client: client.expect("the server takes connections"),
            options: options.expect("valid options"),
        }
    }

    async fn locked<F>(&self, mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match mode {
            Mode::Read => {
                let guard = self
                    .client
                    .acquire_read_with_options(key, self.options.clone());
                let mut guard = guard.await.expect("the lock is granted");
                let output = body.await;
                guard.release().await.expect("the lock was held");
                output
            }
            Mode::Write => {
                let guard = self
                    .client
                    .acquire_write_with_options(key, self.options.clone());
                let mut guard = guard.await.expect("the lock is granted");
                let output = body.await;
                guard.release().await.expect("the lock was held");
                output
            }
        }
    }
}
