//! What redis-py (5.x, 6.x) and node-redlock (5.x) send: their scripts, as they are there.

use super::redis::Redis;
use super::reply::Reply;
use crate::plan::{Dialect, Setup};

const PY_RELEASE: &str = "
    local token = redis.call('get', KEYS[1])
    if not token or token ~= ARGV[1] then
        return 0
    end
    redis.call('del', KEYS[1])
    return 1
";

const PY_EXTEND: &str = "
    local token = redis.call('get', KEYS[1])
    if not token or token ~= ARGV[1] then
        return 0
    end
    local expiration = redis.call('pttl', KEYS[1])
    if not expiration then
        expiration = 0
    end
    if expiration < 0 then
        return 0
    end

    local newttl = ARGV[2]
    if ARGV[3] == \"0\" then
        newttl = ARGV[2] + expiration
    end
    redis.call('pexpire', KEYS[1], newttl)
    return 1
";

const NODE_ACQUIRE: &str = "
  -- Return 0 if an entry already exists.
  for i, key in ipairs(KEYS) do
    if redis.call(\"exists\", key) == 1 then
      return 0
    end
  end

  -- Create an entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call(\"set\", key, ARGV[1], \"PX\", ARGV[2])
  end

  -- Return the number of entries added.
  return #KEYS
";

const NODE_EXTEND: &str = "
  -- Return 0 if an entry exists with a *different* lock value.
  for i, key in ipairs(KEYS) do
    if redis.call(\"get\", key) ~= ARGV[1] then
      return 0
    end
  end

  -- Update the entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call(\"set\", key, ARGV[1], \"PX\", ARGV[2])
  end

  -- Return the number of entries updated.
  return #KEYS
";

const NODE_RELEASE: &str = "
  local count = 0
  for i, key in ipairs(KEYS) do
    -- Only remove entries for *this* lock value.
    if redis.call(\"get\", key) == ARGV[1] then
      redis.call(\"pexpire\", key, 0)
      count = count + 1
    end
  end

  -- Return the number of entries removed.
  return count
";

/// One hold: which mutex, by which value, for how many ms.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) lock: usize,
    pub(super) value: String,
    pub(super) millis: u64,
}

impl Entry {
    /// Whether it has got the mutex; an error leaves that open.
    pub(super) async fn acquire(
        &self,
        dialect: Dialect,
        redis: &mut Redis,
    ) -> Result<bool, String> {
        if dialect == Dialect::NodeRedlock {
            return self.eval(redis, NODE_ACQUIRE, &[]).await;
        }
        let (name, millis) = (Setup::lock(self.lock), self.millis.to_string());
        let set = ["SET", &name, &self.value, "NX", "PX", &millis];
        let reply = redis.ask(self.lock, &set).await?;
        match reply {
            Reply::Status(_) => Ok(true),
            Reply::Null => Ok(false),
            other => Err(format!("{other:?}")),
        }
    }

    /// Whether it still had the mutex and has it for as long again.
    pub(super) async fn extend(&self, dialect: Dialect, redis: &mut Redis) -> Result<bool, String> {
        match dialect {
            Dialect::RedisPy => self.eval(redis, PY_EXTEND, &["1"]).await,
            Dialect::NodeRedlock => self.eval(redis, NODE_EXTEND, &[]).await,
        }
    }

    /// Whether it still had the mutex.
    pub(super) async fn release(
        &self,
        dialect: Dialect,
        redis: &mut Redis,
    ) -> Result<bool, String> {
        let script = match dialect {
            Dialect::RedisPy => PY_RELEASE,
            Dialect::NodeRedlock => NODE_RELEASE,
        };
        self.eval(redis, script, &[]).await
    }

    async fn eval(&self, redis: &mut Redis, script: &str, more: &[&str]) -> Result<bool, String> {
        let (name, millis) = (Setup::lock(self.lock), self.millis.to_string());
        let words = ["EVAL", script, "1", &name, &self.value, &millis];
        let words = [&words[..], more].concat();
        match redis.ask(self.lock, &words).await? {
            Reply::Int(number) => Ok(number > 0),
            other => Err(format!("{other:?}")),
        }
    }
}
