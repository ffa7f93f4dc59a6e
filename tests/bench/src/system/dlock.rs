//! dlock itself, through its public interface.

use dlock::Client;

use super::{Body, Mode, Setup, System, Topology, run_under};

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

    async fn locked<B: Body>(&self, mode: Mode, key: &str, body: B) -> B::Output {
        let lock = self.client.rw_lock(key).expect("a valid name");
        match mode {
            Mode::Read => run_under!(lock.read(), body),
            Mode::Write => run_under!(lock.write(), body),
        }
    }
}

/// A client of these servers.
pub(crate) async fn client(setup: &Setup) -> Client {
    let builder = match setup.topology {
        Topology::Standalone | Topology::Cluster => Client::builder().url(&setup.url),
        Topology::Quorum => Client::builder().quorum(setup.nodes()),
    };
    let client = builder.lease(setup.lease).build();
    client.await.expect("the servers answer")
}
