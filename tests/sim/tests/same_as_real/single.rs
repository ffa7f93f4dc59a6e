//! Sequences on one server.

use std::ops::Range;
use std::time::{Duration, Instant};

use dlock_sim::server::{Fleet, FleetConfig, NodeId};
use fastrand::Rng;

use crate::arguments::Locks;
use crate::commands::{self, KeyNames, words};
use crate::compare::Both;
use crate::conf::Shape;
use crate::real::{Real, RealConn};
use crate::scripts::{self, LIBRARY, MUTEX};
use crate::value::Value;

const KEYS: KeyNames<'_> = KeyNames { stems: &["k"] };
const LOCKS: [&str; 2] = ["dlock:{a}", "dlock:{b}"];
const CHANNELS: [&str; 4] = ["c0", "dlock~c:{a}:c0", "dlock~c:{a}:c1", "dlock~c:{b}:c2"];
/// The key from which scripts take the time.
const CLOCK: &str = "clock{a}";

pub(crate) fn compare(seeds: Range<u64>) {
    let real = Real::start(Shape::SINGLE);
    let mut admin = real.connect(0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        sequence(&real, &mut admin, seed);
    }
    println!("{count} sequences on one {:?}: equal replies", real.flavour);
}

/// One start for both sides.
pub(crate) fn fresh<'r>(real: &'r Real, admin: &mut RealConn, seed: u64) -> Both<'r> {
    for command in [
        &["CONFIG", "SET", "maxmemory", "0"][..],
        &["CONFIG", "SET", "min-replicas-to-write", "0"],
        &["FLUSHALL"],
        &["SCRIPT", "FLUSH"],
    ] {
        let command: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        admin.must(&command);
    }
    let began = Instant::now();
    let config = FleetConfig {
        wall_micros: time(admin),
        ..FleetConfig::default()
    };
    Both::new(real, Fleet::single(real.flavour, config), began, seed)
}

/// What the real server's clock shows.
pub(crate) fn time(admin: &mut RealConn) -> u64 {
    let Value::Many(_, parts) = admin.must(&[b"TIME"]) else {
        panic!("the time has two parts");
    };
    let part = |at: usize| match &parts[at] {
        Value::Bulk(digits) => String::from_utf8_lossy(digits)
            .parse::<u64>()
            .expect("a number"),
        other => panic!("{other:?} is no number"),
    };
    part(0) * 1_000_000 + part(1)
}

fn sequence(real: &Real, admin: &mut RealConn, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut both = fresh(real, admin, seed);
    for _ in 0..3 {
        both.connect(0);
    }
    both.resp3(0);
    both.resp3(2);
    let sharded = real.flavour.has_sharded_channels();
    let publish: &[&str] = if sharded {
        &["S5", "P5", "L5", "R5", ""]
    } else {
        &["P5", "L5", "R5", ""]
    };
    let mut locks = Locks {
        keys: &LOCKS,
        micros: time(admin),
        publish,
        tokens: Vec::new(),
    };
    both.ask(2, &[words(&["SUBSCRIBE", "c0"])]);
    let drawn_clock = rng.bool();
    for _ in 0..rng.usize(10..30) {
        let conn = rng.usize(0..2);
        match rng.u8(0..12) {
            0..3 => both.ask(conn, &[commands::draw(&mut rng, KEYS)]),
            3 => both.ask(conn, &[commands::draw_other(&mut rng)]),
            4 => both.ask(conn, &[scripts::draw(&mut rng, KEYS)]),
            5 => both.ask(conn, &[scripts::beside(&mut rng, &["x"])]),
            6 => {
                let requests = [
                    commands::draw(&mut rng, KEYS),
                    commands::draw(&mut rng, KEYS),
                ];
                both.ask(conn, &requests);
            }
            7 => subscribe(&mut rng, &mut both, sharded),
            8 => trouble(&mut rng, &mut both, admin),
            _ => lock(&mut rng, &mut both, &mut locks, conn, drawn_clock),
        }
    }
    both.look_everywhere();
    dump(&mut both);
    both.end();
}

/// One operation on a lock.
fn lock(rng: &mut Rng, both: &mut Both<'_>, locks: &mut Locks<'_>, conn: usize, drawn_clock: bool) {
    let script = rng.usize(..LIBRARY.len());
    let clock = drawn_clock.then_some(CLOCK);
    if drawn_clock {
        locks.micros = match rng.u8(0..8) {
            0 => locks
                .micros
                .saturating_sub(commands::pick(rng, &[500_000, 5_000_000])),
            _ => locks.micros + commands::pick(rng, &[1, 1_000, 2_000_000, 31_000_000]),
        };
        let (seconds, micros) = (locks.micros / 1_000_000, locks.micros % 1_000_000);
        both.ask(
            conn,
            &[words(&[
                "HSET",
                CLOCK,
                "s",
                &seconds.to_string(),
                "u",
                &micros.to_string(),
            ])],
        );
    }
    locks.tokens.push(locks.micros);
    if rng.bool() {
        let script = rng.usize(..MUTEX.len());
        let mut request = words(&["EVAL", &scripts::library(MUTEX[script], clock)]);
        request.extend(locks.of_mutex(rng, script));
        let requests = [Locks::plain(rng), request];
        both.ask(conn, &requests[rng.usize(0..2)..]);
        return;
    }
    let mut request = words(&["EVAL", &scripts::library(LIBRARY[script], clock)]);
    request.extend(locks.draw(rng, script));
    both.ask(conn, &[request]);
}

fn subscribe(rng: &mut Rng, both: &mut Both<'_>, sharded: bool) {
    let channel = commands::pick(rng, &CHANNELS);
    let command = match rng.u8(0..6) {
        0 | 1 if sharded => words(&["SSUBSCRIBE", channel]),
        2 if sharded => words(&["SUNSUBSCRIBE", channel]),
        3 if sharded => words(&["SPUBLISH", channel, "hello"]),
        0..3 => words(&["SUBSCRIBE", channel]),
        3 => words(&["UNSUBSCRIBE", channel]),
        _ => words(&["PUBLISH", channel, "hello"]),
    };
    // A subscriber in RESP2 may send nothing else.
    let conn = if command[0].starts_with(b"P") || command[0].starts_with(b"SP") {
        rng.usize(0..2)
    } else {
        2
    };
    both.ask(conn, &[command]);
}

fn trouble(rng: &mut Rng, both: &mut Both<'_>, admin: &mut RealConn) {
    let on = rng.bool();
    let node = NodeId(0);
    match rng.u8(0..4) {
        0 | 1 => {
            both.note(format!("memory is full: {on}"));
            admin.must(&[
                b"CONFIG",
                b"SET",
                b"maxmemory",
                if on { b"1" } else { b"0" },
            ]);
            both.model.set_full(node, on);
        }
        2 => {
            both.note(format!("replicas are wanted: {on}"));
            admin.must(&[
                b"CONFIG",
                b"SET",
                b"min-replicas-to-write",
                if on { b"1" } else { b"0" },
            ]);
            both.model.set_min_replicas(node, usize::from(on));
        }
        _ => {
            both.note("10 ms pass, and keys with 2 ms are over");
            let short = [
                words(&["PEXPIRE", "k1", "2"]),
                words(&["SET", "k2", "v", "PX", "2"]),
                words(&["GETEX", "k3", "PX", "2"]),
            ];
            both.ask(0, &short);
            std::thread::sleep(Duration::from_millis(10));
            let again = ["k1", "k2", "k3"].map(|key| [["TYPE", key], ["GETEX", key]]);
            let again = again.iter().flatten().map(|request| words(request));
            both.ask(0, &again.collect::<Vec<_>>());
            both.ask(0, &[words(&["SET", "k2", "v", "NX", "PX", "70000", "GET"])]);
        }
    }
}

/// All that is there at the end.
fn dump(both: &mut Both<'_>) {
    let keys = ["k0", "k1", "k2", "k3", "{x}k0", "{x}k2", CLOCK];
    let mutexes = ["{a}m", "{b}m", "dlock~m:{a}m", "dlock~m:{b}m"];
    let keys = keys.into_iter().chain(LOCKS).chain(mutexes);
    let requests: Vec<_> = keys
        .flat_map(|key| [["TYPE", key], ["PTTL", key], ["HGETALL", key], ["GET", key]])
        .map(|request| words(&request))
        .collect();
    both.ask(0, &requests);
}
