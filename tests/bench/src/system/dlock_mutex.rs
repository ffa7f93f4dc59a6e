//! dlock's mutex, which other languages share.

use super::{Mode, Setup, System, dlock::client};

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

    async fn locked<F>(&self, _mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mutex = self.client.mutex(key).expect("a valid name");
        let guard = mutex.lock().await.expect("the lock is granted");
        let output = body.await;
        guard.release().await.expect("the lock was held");
        output
    }
}
