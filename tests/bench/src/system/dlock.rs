//! dlock itself, through its public interface.

use super::{Mode, Setup, System};

#[derive(Clone)]
pub(crate) struct Dlock {
    client: dlock::Client,
}

impl System for Dlock {
    async fn connect(setup: &Setup) -> Self {
        let client = dlock::Client::builder()
            .url(&setup.url)
            .lease(setup.lease)
            .build();
        Self {
            client: client.await.expect("the servers answer"),
        }
    }

    async fn locked<F>(&self, mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let lock = self.client.rw_lock(key).expect("a valid name");
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
