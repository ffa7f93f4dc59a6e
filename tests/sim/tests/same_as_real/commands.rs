//! Commands that are drawn.

use fastrand::Rng;

/// A request: its words.
pub(crate) type Words = Vec<Vec<u8>>;

pub(crate) fn words(text: &[&str]) -> Words {
    text.iter().map(|word| word.as_bytes().to_vec()).collect()
}

pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.usize(..from.len())]
}

const VALUES: [&str; 12] = [
    "",
    "0",
    "1",
    "-7",
    "9223372036854775807",
    "007",
    "text",
    "a b",
    "3.5",
    "x\r\ny",
    "ü",
    "10",
];
const SPANS: [&str; 9] = [
    "0",
    "-1",
    "100000",
    "70000",
    "abc",
    "9223372036854775807",
    "100001",
    "99999999999",
    "",
];

/// What comes before a key's number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyNames<'k> {
    pub(crate) stems: &'k [&'k str],
}

impl KeyNames<'_> {
    pub(crate) fn draw(&self, rng: &mut Rng) -> String {
        format!("{}{}", pick(rng, self.stems), rng.u8(0..4))
    }
}

/// One command on keys of any kind, mostly well-formed.
pub(crate) fn draw(rng: &mut Rng, keys: KeyNames<'_>) -> Words {
    let (key, other) = (&*keys.draw(rng), &*keys.draw(rng));
    let (f, g) = (
        &*format!("f{}", rng.u8(0..5)),
        &*format!("f{}", rng.u8(0..5)),
    );
    let (v, w) = (pick(rng, &VALUES), pick(rng, &VALUES));
    let span = pick(rng, &SPANS);
    let condition = pick(rng, &["NX", "XX", "GT", "LT", "no"]);
    let mut command = match rng.u8(0..52) {
        0..5 => words(&["HSET", key, f, v]),
        5 => words(&["HSET", key, f, v, g, w]),
        6 => words(&["HSET", key, f, v, g]),
        7..10 => words(&["HGET", key, f]),
        10..12 => words(&["HMGET", key, f, g]),
        12..15 => words(&["HDEL", key, f, g]),
        15 => words(&["HLEN", key]),
        16 => words(&["HGETALL", key]),
        17 => words(&["HEXISTS", key, f]),
        18 => words(&["HSETNX", key, f, v]),
        19 => words(&["HINCRBY", key, f, v]),
        20 => words(&["HSTRLEN", key, f]),
        21 => words(&["HMSET", key, f, v]),
        22 => words(&["SET", key, v]),
        23 => words(&["SET", key, v, "PX", span]),
        24 => words(&["SET", key, v, pick(rng, &["NX", "XX", "YY"])]),
        25 => words(&["GET", key]),
        26 => words(&["APPEND", key, v]),
        27 => words(&["STRLEN", key]),
        28 => words(&["INCRBY", key, v]),
        29 => words(&["INCR", key]),
        30 => words(&["DEL", key]),
        31 => words(&["DEL", key, other]),
        32 => words(&["EXISTS", key, other, key]),
        33 => words(&["TYPE", key]),
        34 => words(&["PTTL", key]),
        35 => words(&["PEXPIRE", key, span]),
        36 => words(&["PEXPIRE", key, span, condition]),
        37 => words(&["EXPIRE", key, span]),
        38 => words(&["PERSIST", key]),
        39 => words(&["PEXPIREAT", key, pick(rng, &["1", "99999999999999", "x"])]),
        40 => words(&["MGET", key, other]),
        41 => words(&["TTL", key]),
        42 => words(&["UNLINK", key, other]),
        43..46 => set(rng, key, v),
        46..48 => options(rng, &["GETEX", key], &GETEX_OPTIONS),
        48 => words(&["GETEX", key]),
        49 => words(&["SET", key, v, "NX", "PX", "70000"]),
        50 => words(&["DEL", key, key]),
        _ => words(&["HGET", key, f, g]),
    };
    if rng.u8(0..20) == 0 {
        command.pop();
    }
    if rng.u8(0..6) == 0 {
        command[0].make_ascii_lowercase();
    }
    command
}

const SET_OPTIONS: [&str; 14] = [
    "NX",
    "XX",
    "nx",
    "GET",
    "get",
    "KEEPTTL",
    "EX 100",
    "PX 70000",
    "px 80000",
    "PX 0",
    "EXAT 9999999999",
    "PXAT 99999999999999",
    "PXAT 1",
    "PERSIST",
];

const GETEX_OPTIONS: [&str; 11] = [
    "PX 70000",
    "px 80000",
    "EX 100",
    "PX",
    "EX -1",
    "EX 9223372036854775807",
    "EXAT 9999999999",
    "PXAT 1",
    "PERSIST",
    "KEEPTTL",
    "NX",
];

fn set(rng: &mut Rng, key: &str, value: &str) -> Words {
    options(rng, &["SET", key, value], &SET_OPTIONS)
}

/// A command with up to three options, which may not go together.
fn options(rng: &mut Rng, command: &[&str], of: &[&str]) -> Words {
    let drawn: Vec<&str> = (0..rng.u8(1..4)).map(|_| pick(rng, of)).collect();
    let options = drawn.iter().flat_map(|option| option.split(' '));
    words(&command.iter().copied().chain(options).collect::<Vec<_>>())
}

/// One command that is not about keys.
pub(crate) fn draw_other(rng: &mut Rng) -> Words {
    words(pick(
        rng,
        &[
            &["PING"][..],
            &["PING", "x"],
            &["PING", "x", "y"],
            &["ECHO", "x"],
            &["ECHO"],
            &["NOSUCH", "a", "b c"],
            &["NoSuch"],
            &[
                "SCRIPT",
                "EXISTS",
                "0000000000000000000000000000000000000000",
                "x",
            ],
            &["SCRIPT", "NOSUCH"],
            &["SCRIPT", "FLUSH", "NOW"],
            &["SCRIPT", "LOAD", "return 1"],
            &["SCRIPT", "LOAD", "return return"],
            &["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"],
            &["EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"],
            &["EVALSHA", "short", "0"],
            &["EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1"],
            &["EVAL", "return 1", "x"],
            &["EVAL", "return 1", "-1"],
            &["EVAL", "return 1"],
            &["HELLO", "4"],
            &["HELLO", "x"],
            &["AUTH", "x"],
            &["AUTH", "default", "x"],
            &["AUTH", "nobody", "x"],
            &["CLIENT", "SETNAME", "a"],
            &["CLIENT", "SETNAME", "a b"],
            &["CLIENT", "GETNAME"],
            &["CLIENT", "NOSUCH"],
            &["CLIENT", "SETINFO", "lib-name", "dlock"],
            &["SELECT", "0"],
            &["SELECT", "x"],
            &["CLUSTER", "NOSUCH"],
            &["PUBSUB", "NUMSUB", "c0", "c1"],
            &["PUBSUB", "SHARDNUMSUB", "c0"],
            &["PUBSUB", "NOSUCH"],
            &["ASKING"],
            &["READONLY"],
            &["READWRITE"],
        ],
    ))
}
