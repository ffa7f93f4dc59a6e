//! dlock's mutex, which other languages share.

use super::{Body, Mode, Setup, System, dlock::client, run_under};

#[derive(Clone)]
pub(crate) struct DlockMutex {
    client: dlock::Client,
}

impl System for DlockMutex {
    async fn connect(setup: &Setup) -> Self {
        Self {
            client: client(setup).await,
        }
    }

    async fn locked<B: Body>(&self, _mode: Mode, key: &str, body: B) -> B::Output {
        let mutex = self.client.mutex(key).expect("a valid name");
        run_under!(mutex.lock(), body)
    }
}
