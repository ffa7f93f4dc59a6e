//! Every command that the simulated servers have and whose reply can be foreseen, as clients send it and as scripts
//! call it. Replies that are left out tell times, sizes or an order of keys: `TIME`, `INFO`, `ROLE`, `DBSIZE`, `SCAN`, `HELLO`.

use fastrand::Rng;

use crate::commands::{KeyNames, Words, pick, words};

/// `K` and `O` are keys, which may be the same.
const EVERY: [&str; 55] = [
    "HMGET K f1 f2",
    "HSET K f1 v",
    "HGET K f1",
    "HDEL K f1",
    "HLEN K",
    "PEXPIRE K 90000",
    "PEXPIREAT K 99999999999999",
    "PUBLISH c0 hello",
    "HGETALL K",
    "PTTL K",
    "PING",
    "READONLY",
    "READWRITE",
    "ECHO x",
    "CLIENT GETNAME",
    "SELECT 0",
    "CLUSTER KEYSLOT K",
    "SCRIPT EXISTS x",
    "PUBSUB NUMSUB c0",
    "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8dc 1 K",
    "AUTH default x",
    "FLUSHALL",
    "GET K",
    "SET K 7",
    "SET K 7 PX 90000 NX",
    "SET K 7 XX KEEPTTL",
    "SET K 7 GET",
    "GETEX K",
    "GETEX K PX 80000",
    "GETEX K PERSIST",
    "SET O 8 NX PX 80000",
    "APPEND K 1",
    "STRLEN K",
    "INCR K",
    "INCRBY K 3",
    "DEL K",
    "DEL K O",
    "UNLINK K O",
    "EXISTS K O",
    "TYPE K",
    "TTL K",
    "EXPIRE K 90",
    "EXPIREAT K 9999999999",
    "PERSIST K",
    "HEXISTS K f1",
    "HSETNX K f2 v",
    "HMSET K f1 v f2 w",
    "HINCRBY K f3 2",
    "HKEYS K",
    "HVALS K",
    "HSTRLEN K f1",
    "PEXPIRETIME K",
    "MGET K O",
    "NOSUCH K",
    "ASKING",
];

/// How a script calls a command: in any case, after it has written or tried to.
const CALLS: [&str; 8] = [
    "return redis.call(unpack(ARGV))",
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "local r = redis.pcall(unpack(ARGV)) return type(r) == 'table' and r.err or r",
    "redis.pcall('HSET', KEYS[1], 'f9', 'v') return redis.pcall(unpack(ARGV))",
    "redis.call('HDEL', KEYS[1], 'f9') return redis.call(unpack(ARGV))",
    "redis.pcall('HDEL', KEYS[1], 'f9') return redis.pcall(unpack(ARGV))",
    "redis.call('EXISTS', KEYS[1]) return redis.call(unpack(ARGV))",
];

/// One of them, mostly about one key.
pub(crate) fn draw(rng: &mut Rng, keys: KeyNames<'_>) -> Words {
    let key = keys.draw(rng);
    let other = if rng.bool() {
        key.clone()
    } else {
        keys.draw(rng)
    };
    let command = pick(rng, &EVERY).split(' ').map(|word| match word {
        "K" => &*key,
        "O" => &*other,
        word => word,
    });
    words(&command.collect::<Vec<_>>())
}

/// A script that calls one of them.
pub(crate) fn in_script(rng: &mut Rng, keys: KeyNames<'_>) -> Words {
    let called = draw(rng, keys);
    let key = match called.get(1) {
        Some(word) if word.starts_with(b"{") => String::from_utf8_lossy(word).into_owned(),
        _ => keys.draw(rng),
    };
    let mut request = words(&["EVAL", pick(rng, &CALLS), "1", &key]);
    request.extend(called);
    request
}
