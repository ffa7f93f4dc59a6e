//! The floor: two round trips with the smallest scripts that make a lock, which has no read mode, no tokens, no
//! server time, no line and no renewal.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use redis::{Cmd, Script, Value};

use super::{Mode, Setup, System, shards::Shards};

const ACQUIRE: &str = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";

#[derive(Clone)]
pub(crate) struct Raw {
    shards: Shards,
    scripts: Arc<Scripts>,
    lease_ms: u128,
}

struct Scripts {
    acquire: Script,
    release: Script,
    id: AtomicU64,
}

impl System for Raw {
    async fn connect(setup: &Setup) -> Self {
        let scripts = Scripts {
            acquire: Script::new(ACQUIRE),
            release: Script::new(RELEASE),
            id: AtomicU64::new(fastrand::u64(..)),
        };
        Self {
            shards: Shards::connect(&setup.url, &[ACQUIRE, RELEASE]).await,
            scripts: Arc::new(scripts),
            lease_ms: setup.lease.as_millis(),
        }
    }

    async fn locked<F>(&self, _mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let id = self.scripts.id.fetch_add(1, Ordering::Relaxed);
        let mut acquire = Cmd::new();
        acquire
            .arg("EVALSHA")
            .arg(self.scripts.acquire.get_hash())
            .arg(1)
            .arg(key)
            .arg(id)
            .arg(self.lease_ms.to_string());
        let granted = self.shards.send(key, &acquire).await;
        assert_eq!(granted, Value::Okay, "nobody else uses this lock");
        let output = body.await;
        let mut release = Cmd::new();
        release
            .arg("EVALSHA")
            .arg(self.scripts.release.get_hash())
            .arg(1)
            .arg(key)
            .arg(id);
        let released = self.shards.send(key, &release).await;
        assert_eq!(released, Value::Int(1), "the lock was held");
        output
    }
}
