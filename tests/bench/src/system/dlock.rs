//! dlock itself, through its public interface.

use dlock::Client;

use super::{Mode, Setup, System, Topology};

#[derive(Clone)]
pub(crate) struct Dlock {
    client: Client,
}

impl System for Dlock {
    async fn connect(setup: &Setup) -> Self {
        Self {
            client: client(setup).await,
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

/// A client of these servers.
pub(super) async fn client(setup: &Setup) -> Client {
    let builder = match setup.topology {
        Topology::Standalone | Topology::Cluster => Client::builder().url(&setup.url),
        Topology::Quorum => Client::builder().quorum(setup.nodes()),
    };
    let client = builder.lease(setup.lease).build();
    client.await.expect("the servers answer")
}
