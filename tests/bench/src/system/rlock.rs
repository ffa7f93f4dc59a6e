//! `rlock`: read/write locks, polling, with renewal.

use std::time::Duration;

use rlock::{AcquireOptions, async_lock::RLock};

use super::{Body, Mode, Setup, System, run_under};

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

    async fn locked<B: Body>(&self, mode: Mode, key: &str, body: B) -> B::Output {
        let (client, options) = (&self.client, self.options.clone());
        match mode {
            Mode::Read => run_under!(client.acquire_read_with_options(key, options), body, mut),
            Mode::Write => run_under!(client.acquire_write_with_options(key, options), body, mut),
        }
    }
}
