//! Scripts: small ones that try what scripts can do, and those of the library.

use dlock::__internals::{Script, script_source};
use fastrand::Rng;

use crate::commands::{KeyNames, Words, pick, words};

/// The scripts about read/write locks.
pub(crate) const LIBRARY: [Script; 7] = [
    Script::Acquire,
    Script::Release,
    Script::Renew,
    Script::Abandon,
    Script::Yield,
    Script::Raise,
    Script::Inspect,
];

/// The scripts about mutexes that use both keys.
pub(crate) const MUTEX: [Script; 6] = [
    Script::MutexAcquire,
    Script::MutexRelease,
    Script::MutexRenew,
    Script::MutexAbandon,
    Script::MutexRaise,
    Script::MutexInspect,
];

fn with_clock(text: &str, clock: Option<&str>) -> String {
    match clock {
        None => text.to_owned(),
        Some(key) => text.replace("call('TIME')", &format!("call('HMGET', '{key}', 's', 'u')")),
    }
}

/// A script of the library as it is sent; with `clock`, it asks that key for the time.
pub(crate) fn library(script: Script, clock: Option<&str>) -> String {
    with_clock(script_source(script), clock)
}

/// Scripts of one or two keys and two arguments.
const SMALL: [&str; 66] = [
    "return 1",
    "return 3.99",
    "return -3.99",
    "return 'text'",
    "return nil",
    "return true",
    "return false",
    "return {1, 2, 'x', {3, 'y'}, nil, 4}",
    "return {}",
    "return {ok = 'fine'}",
    "return {err = 'MYERR no'}",
    "return {err = 'no'}",
    "return {err = '-DASH no'}",
    "return {double = 3.5}",
    "return redis.error_reply('MYERR no')",
    "return redis.error_reply('no')",
    "return redis.error_reply('-X no')",
    "return redis.status_reply('fine')",
    "return redis.error_reply(1)",
    "return {KEYS[1], ARGV[1], ARGV[2], #KEYS, #ARGV}",
    "return {KEYS[1], false, true}",
    "error('boom')",
    "error({err = 'MYERR boom'})",
    "error('boom', 0)",
    "local x = nil\nreturn x.y",
    "return nosuch",
    "\n\nnosuch = 1",
    "return #redis.sha1hex('a')",
    "return redis.sha1hex('a')",
    "return tostring(1760000000000000)",
    "return string.format('%d', 1760000000123456)",
    "return 1760000000123456",
    "return redis.call('ECHO', 1760000000123456)",
    "return redis.call('ECHO', 0.1)",
    "return redis.call('ECHO', 1e20)",
    "return redis.call('ECHO', -12)",
    "return redis.call('ECHO', 1760000000000000)",
    "return redis.call('ECHO', 3e17)",
    "return redis.call('ECHO', 1e18)",
    "return redis.call('ECHO', 12345.678)",
    "return redis.call('ECHO', 123456789012345678)",
    "return redis.call()",
    "return redis.call({})",
    "return redis.call('ECHO', true)",
    "return redis.pcall('ECHO', nil)",
    "return redis.call('NOSUCH')",
    "local r = redis.pcall('NOSUCH') return r.err",
    "return redis.pcall('NOSUCH')",
    "return redis.call('GET')",
    "return redis.call('EVAL', 'return 1', '0')",
    "return redis.call('SUBSCRIBE', 'c')",
    "return redis.call('HGET', KEYS[1], 'f1')",
    "redis.call('HSET', KEYS[1], 'f1', ARGV[1]) return redis.call('HGETALL', KEYS[1])",
    "local r = redis.pcall('HSET', KEYS[1], 'f1', ARGV[1]) return type(r) == 'table' and r.err or r",
    "return redis.pcall('INCR', KEYS[1])",
    "redis.call('HSET', KEYS[1], 'f2', 'x')\nredis.call('HDEL', KEYS[1], 'f1', 'f2', 'f3')\nreturn redis.call('EXISTS', KEYS[1])",
    "redis.call('SET', KEYS[1], 'x')\nredis.call('HGET', KEYS[1], 'f')\nreturn 1",
    "local ok, e = pcall(redis.call, 'HGET', KEYS[1]) return {tostring(ok), type(e) == 'table' and e.err or e}",
    "local ok, e = pcall(error, 'x') return {tostring(ok), e}",
    "local ok, e = pcall(function() return redis.call('INCR', KEYS[1]) end) return {tostring(ok), type(e) == 'table' and e.err or e}",
    "local function f() return redis.call('HSET', 'x') end\nlocal x = f()\nreturn x",
    "redis.call('DEL', KEYS[1])\nredis.call('HSET', KEYS[1], 'a', 1, 'b', 2, 'c', 3)\nredis.call('PEXPIRE', KEYS[1], 90000)\nreturn {redis.call('HLEN', KEYS[1]), redis.call('PTTL', KEYS[1])}",
    "return redis.call('PUBLISH', 'c0', ARGV[1])",
    "local t = redis.call('TIME') return {#t, type(t[1]), tonumber(t[1]) > 1000}",
    "return redis.call('HMGET', KEYS[1], 'f0', 'f1', 'f2')",
    "redis.call('HDEL', KEYS[1], '') redis.call('HSET', KEYS[1], 'f1', 'after') return redis.call('HGET', KEYS[1], 'f1')",
];

/// One small script with its arguments.
pub(crate) fn draw(rng: &mut Rng, keys: KeyNames<'_>) -> Words {
    let (key, value) = (keys.draw(rng), pick(rng, &["v", "1", ""]));
    words(&["EVAL", pick(rng, &SMALL), "1", &key, value, "second"])
}

/// Scripts with several keys, declared or not.
pub(crate) fn several_keys(rng: &mut Rng, keys: KeyNames<'_>) -> Words {
    let (key, other) = (keys.draw(rng), keys.draw(rng));
    let script = pick(
        rng,
        &[
            "return {redis.call('EXISTS', KEYS[1]), redis.call('EXISTS', ARGV[1])}",
            "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'f1', 'v') return 1",
            "return redis.call('EXISTS', KEYS[1], ARGV[1])",
            "return redis.pcall('MGET', KEYS[1], ARGV[1])",
            "redis.call('HSET', KEYS[1], 'f1', 'v') redis.call('HSET', ARGV[1], 'f1', 'v') return 1",
            "local r = redis.pcall('HGET', ARGV[1], 'f1') return type(r) == 'table' and r.err or r",
            "return redis.call('PUBLISH', 'c0', 'from a script')",
        ],
    );
    let declared = pick(rng, &["1", "1", "2", "0"]);
    words(&["EVAL", script, declared, &key, &other])
}

/// Scripts about a text and a hash beside it that share a slot, both declared, as a lock is whose hold is a text.
const BESIDE: [&str; 7] = [
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    "if redis.call('GETEX', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], 70000) end return 0",
    "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 70000)",
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', 70000) redis.call('HSET', KEYS[2], 'f1', ARGV[1]) return redis.call('PEXPIRE', KEYS[2], 90000)",
    "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HDEL', KEYS[2], 'f1') return redis.call('DEL', KEYS[1]) end return redis.call('PTTL', KEYS[1])",
    "local old = redis.pcall('SET', KEYS[1], ARGV[1], 'XX', 'GET', 'KEEPTTL') return type(old) == 'table' and (old.err or old.ok) or old",
    "return {redis.call('EXISTS', KEYS[1], KEYS[2]), redis.pcall('GET', KEYS[1]), redis.pcall('HLEN', KEYS[2])}",
];

/// One of them. `tags` are of different slots.
pub(crate) fn beside(rng: &mut Rng, tags: &[&str]) -> Words {
    let tag = pick(rng, tags);
    let text = format!("{{{tag}}}k{}", rng.u8(0..2));
    let hash = format!("{{{tag}}}k{}", rng.u8(2..4));
    let value = pick(rng, &["v", "w"]);
    words(&["EVAL", pick(rng, &BESIDE), "2", &text, &hash, value])
}
