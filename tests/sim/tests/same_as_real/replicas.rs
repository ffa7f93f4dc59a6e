//! Sequences on a cluster of two masters with a replica each, which may take over; with too little memory or too few
//! replicas, too.

use std::ops::Range;
use std::time::Instant;

use dlock_sim::server::{Fleet, FleetConfig, NodeId, Promotion};
use fastrand::Rng;

use crate::commands::{KeyNames, words};
use crate::compare::Both;
use crate::conf::Shape;
use crate::every;
use crate::moving::{channel, locks, request};
use crate::real::{Real, RealConn};
use crate::refusals::refuse;
use crate::roles::{Roles, settle};
use crate::single::time;

const MASTERS: usize = 2;
const NODES: usize = 2 * MASTERS;
const KEYS: KeyNames<'_> = KeyNames {
    stems: &["{a}k", "{b}k", "{a}k", "{d}k"],
};

pub(crate) fn compare(seeds: Range<u64>) {
    let shape = Shape {
        masters: MASTERS,
        replicas: 1,
    };
    let real = Real::start(shape);
    let mut admins: Vec<RealConn> = (0..NODES).map(|number| real.connect(number)).collect();
    Roles::at_start(MASTERS).wait_listed(&mut admins);
    let count = seeds.end - seeds.start;
    let mut takeovers = 0;
    for seed in seeds {
        takeovers += sequence(&real, &mut admins, seed);
    }
    let flavour = real.flavour;
    println!(
        "{count} sequences on a cluster of {flavour:?} with replicas ({takeovers} of which took over): equal replies"
    );
}

/// How often a replica has taken over.
fn sequence(real: &Real, admins: &mut [RealConn], seed: u64) -> usize {
    for (node, admin) in admins.iter_mut().enumerate() {
        admin.must(&[b"CONFIG", b"SET", b"maxmemory", b"0"]);
        admin.must(&[b"CONFIG", b"SET", b"min-replicas-to-write", b"0"]);
        if node < MASTERS {
            admin.must(&[b"FLUSHALL"]);
        }
        admin.must(&[b"SCRIPT", b"FLUSH"]);
    }
    let mut rng = Rng::with_seed(seed);
    let began = Instant::now();
    let config = FleetConfig {
        wall_micros: time(&mut admins[0]),
        first_port: real.first_port,
        ..FleetConfig::default()
    };
    let model = Fleet::cluster(real.flavour, MASTERS, 1, config);
    let mut both = Both::new(real, model, began, seed);
    for node in 0..NODES {
        for _ in 0..2 {
            let conn = both.connect(node);
            both.resp3(conn);
        }
        both.ask(2 * node, &[words(&["READONLY"])]);
    }
    both.ask(0, &[words(&["SUBSCRIBE", "c0"])]);
    let mut locks = locks(real, &mut admins[0]);
    let mut roles = Roles::at_start(MASTERS);
    let mut takeovers = 0;
    for _ in 0..rng.usize(15..35) {
        settle(&roles, admins);
        let conn = rng.usize(0..2 * NODES);
        match rng.u8(0..90) {
            0 => {
                let shard = rng.usize(0..MASTERS);
                take_over(&mut both, admins, &mut roles, shard);
                takeovers += 1;
            }
            1..10 => {
                let node = rng.usize(0..NODES);
                refuse(&mut rng, &mut both, &mut admins[node], node);
            }
            10..16 => channel(&mut rng, &mut both, 2 * NODES),
            16..19 => both.ask(conn, &[words(&["CLUSTER", "SLOTS"])]),
            19..40 => both.ask(conn, &[every::draw(&mut rng, KEYS)]),
            40..61 => both.ask(conn, &[every::in_script(&mut rng, KEYS)]),
            _ => both.ask(conn, &[request(&mut rng, &mut locks)]),
        }
    }
    settle(&roles, admins);
    both.look_everywhere();
    let keys = ["{a}k0", "{a}k1", "{b}k0", "{b}k1", "{d}k0"];
    for node in 0..NODES {
        let dump: Vec<_> = (keys.iter())
            .flat_map(|key| [["HGETALL", key], ["GET", key], ["PTTL", key]])
            .map(|request| words(&request))
            .collect();
        both.ask(2 * node, &[words(&["READONLY"])]);
        both.ask(2 * node, &dump);
    }
    both.end();
    for shard in 0..MASTERS {
        if roles.master(shard) != shard {
            roles.exchange(shard);
            roles.take_over(real, admins, shard);
        }
    }
    takeovers
}

fn take_over(both: &mut Both<'_>, admins: &mut [RealConn], roles: &mut Roles, shard: usize) {
    let (old, new) = roles.exchange(shard);
    both.note(format!("{new} takes over from {old}"));
    roles.take_over(both.real, admins, shard);
    let now = both.now();
    let took = both.model.promote(now, NodeId(new), Promotion::Automatic);
    assert!(took, "seed {}: {new} takes over", both.seed);
    both.carry_links();
    both.model.greet_all(now);
    both.carry_links();
    both.look_everywhere();
}
