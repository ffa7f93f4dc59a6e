//! The floor: two round trips with the smallest scripts.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use redis::{Script, Value};

use super::{Body, Mode, Setup, System, evalsha, shards::Shards};

/// Scripts that make a lock, which has no read mode, no tokens, no server time, no line and no renewal.
const PLAIN: [&str; 2] = [
    "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])",
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end",
];

/// The same, of a hash that keeps the holder and a token by the server's clock beyond the release, as a
/// read/write lock with tokens has to.
const WITH_TOKEN: [&str; 2] = [
    "local f = redis.call('HMGET', KEYS[1], 't', 'h')
    local time = redis.call('TIME')
    local token = string.format('%s%06d', time[1], time[2])
    if f[2] or f[1] and f[1] >= token then return end
    redis.call('HSET', KEYS[1], 't', token, 'h', ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return tonumber(token)",
    "if redis.call('HGET', KEYS[1], 'h') == ARGV[1] then return redis.call('HDEL', KEYS[1], 'h') end",
];

/// With [`PLAIN`] scripts.
pub(crate) type Raw = Floor<false>;
/// With [`WITH_TOKEN`].
pub(crate) type RawToken = Floor<true>;

#[derive(Clone)]
pub(crate) struct Floor<const TOKEN: bool> {
    shards: Shards,
    scripts: Arc<Scripts>,
    lease_ms: u128,
}

struct Scripts {
    acquire: Script,
    release: Script,
    id: AtomicU64,
}

impl<const TOKEN: bool> System for Floor<TOKEN> {
    async fn connect(setup: &Setup) -> Self {
        let [acquire, release] = if TOKEN { WITH_TOKEN } else { PLAIN };
        let scripts = Scripts {
            acquire: Script::new(acquire),
            release: Script::new(release),
            id: AtomicU64::new(fastrand::u64(..)),
        };
        Self {
            shards: Shards::connect(&setup.url, &[&scripts.acquire, &scripts.release]).await,
            scripts: Arc::new(scripts),
            lease_ms: setup.lease.as_millis(),
        }
    }

    async fn locked<B: Body>(&self, _mode: Mode, key: &str, body: B) -> B::Output {
        let id = self.scripts.id.fetch_add(1, Ordering::Relaxed);
        let mut acquire = evalsha(&self.scripts.acquire, key);
        acquire.arg(id).arg(self.lease_ms.to_string());
        let granted = self.shards.send(key, &acquire).await;
        let granted = matches!(granted, Value::Okay | Value::Int(_));
        assert!(granted, "nobody else uses this lock");
        let output = body.await;
        let mut release = evalsha(&self.scripts.release, key);
        release.arg(id);
        let released = self.shards.send(key, &release).await;
        assert_eq!(released, Value::Int(1), "the lock was held");
        output
    }
}
