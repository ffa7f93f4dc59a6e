//! A client and the runtimes that use it: one after the other, side by side, and none at all.

mod others;
mod stalls;
mod tokio_runtimes;

use std::time::Duration;

use dlock::{Client, RwLock};
use dlock_tests::{
    SOON, builder, connect, listening, scaled, shared_cluster, stores, unique_prefix, wait_until,
};
use tokio::runtime::{Builder, Runtime};

/// Longer than any test.
const LONG: Duration = Duration::from_secs(60);
/// Short enough to be outlived.
fn short() -> Duration {
    scaled(Duration::from_millis(1500))
}

/// Short enough to be outlived.
const SHORT: Duration = Duration::from_millis(1500);

/// A runtime as `#[tokio::test]` makes it.
fn one_thread() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts")
}

/// A client that was built on a runtime of its own, and the locks as another client sees them.
struct Stage {
    /// Of the witness.
    lasting: Runtime,
    first: Option<Runtime>,
    client: Client,
    witness: Client,
    url: String,
}

impl Stage {
    /// One for each store.
    fn each() -> impl Iterator<Item = Self> {
        let lasting = Runtime::new().expect("a runtime starts");
        let urls = lasting.block_on(stores());
        urls.into_iter().map(|url| {
            let (lasting, first) = (Runtime::new().expect("a runtime starts"), one_thread());
            let prefix = unique_prefix();
            let client = first.block_on(builder(&url, &prefix).lease(LONG).build());
            let witness = lasting.block_on(connect(&url, &prefix));
            Self {
                client: client.expect("the store is there"),
                witness,
                lasting,
                first: Some(first),
                url,
            }
        })
    }

    fn lock(&self, name: &str) -> RwLock {
        self.client.rw_lock(name).expect("a valid name")
    }

    /// Waits until the lock's channel has a subscriber. Waiters in memory hear of it at once.
    async fn wait_heard(&self, lock: &RwLock) {
        if self.url.starts_with("memory:") {
            return;
        }
        let cluster = shared_cluster().await;
        let (prefix, _) = lock.key().as_str().split_once(':').expect("a prefix");
        let start = format!("{prefix}~c:");
        wait_until(SOON, "somebody listens", || async {
            !listening(cluster.nodes(), &start).await.is_empty()
        })
        .await;
    }

    /// Waits until the lock is free, which has to be long before its lease ends.
    fn wait_free(&self, name: &str) {
        let lock = self.witness.rw_lock(name).expect("a valid name");
        self.lasting.block_on(dlock_tests::wait_free(&lock));
    }
}
