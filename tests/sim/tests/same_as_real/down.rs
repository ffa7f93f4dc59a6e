//! Sequences on a cluster of three masters that give up slots and take them again.

use std::ops::Range;
use std::time::Instant;

use dlock_sim::server::{Fleet, FleetConfig, NodeId};
use fastrand::Rng;

use crate::arguments::Locks;
use crate::commands::{KeyNames, pick, words};
use crate::compare::Both;
use crate::conf::Shape;
use crate::every;
use crate::moving::{channel, locks, request};
use crate::real::{Real, RealConn};
use crate::single::time;
use crate::slots::MASTERS;

/// Tags of slots, with their masters.
const TAGS: [(&str, usize); 3] = [("a", 2), ("b", 0), ("d", 2)];
const KEYS: KeyNames<'_> = KeyNames {
    stems: &["{a}k", "{b}k", "{c}k", "{d}k"],
};

pub(crate) fn compare(seeds: Range<u64>) {
    let shape = Shape {
        masters: MASTERS,
        replicas: 0,
    };
    let real = Real::start(shape);
    let mut admins: Vec<RealConn> = (0..MASTERS).map(|number| real.connect(number)).collect();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        sequence(&real, &mut admins, seed);
    }
    let flavour = real.flavour;
    println!("{count} sequences on a cluster of {flavour:?} that lacks slots: equal replies");
}

fn sequence(real: &Real, admins: &mut [RealConn], seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let full_coverage = rng.bool();
    let coverage: &[u8] = if full_coverage { b"yes" } else { b"no" };
    for admin in &mut *admins {
        admin.must(&[b"FLUSHALL"]);
        admin.must(&[b"SCRIPT", b"FLUSH"]);
        admin.must(&[
            b"CONFIG",
            b"SET",
            b"cluster-require-full-coverage",
            coverage,
        ]);
    }
    let began = Instant::now();
    let config = FleetConfig {
        wall_micros: time(&mut admins[0]),
        first_port: real.first_port,
        full_coverage,
        ..FleetConfig::default()
    };
    let model = Fleet::cluster(real.flavour, MASTERS, 0, config);
    let mut both = Both::new(real, model, began, seed);
    both.note(format!("all slots are wanted: {full_coverage}"));
    for node in 0..MASTERS {
        let conn = both.connect(node);
        both.resp3(conn);
    }
    both.ask(0, &[words(&["SUBSCRIBE", "c0"])]);
    let mut locks: Locks<'_> = locks(real, &mut admins[0]);
    let mut missing = Vec::new();
    for _ in 0..rng.usize(15..30) {
        let conn = rng.usize(0..MASTERS);
        match rng.u8(0..12) {
            0 | 1 => give_up_or_take(&mut rng, &mut both, admins, &mut missing),
            2 => channel(&mut rng, &mut both, MASTERS),
            3 => both.ask(conn, &[words(&["CLUSTER", "SLOTS"])]),
            4..6 => both.ask(conn, &[every::draw(&mut rng, KEYS)]),
            6..8 => both.ask(conn, &[every::in_script(&mut rng, KEYS)]),
            _ => both.ask(conn, &[request(&mut rng, &mut locks)]),
        }
    }
    both.look_everywhere();
    for at in missing {
        take(&mut both, admins, at);
    }
    both.end();
}

fn give_up_or_take(
    rng: &mut Rng,
    both: &mut Both<'_>,
    admins: &mut [RealConn],
    missing: &mut Vec<(&'static str, usize)>,
) {
    let at = pick(rng, &TAGS);
    if let Some(known) = missing.iter().position(|other| *other == at) {
        missing.remove(known);
        take(both, admins, at);
        return;
    }
    let (tag, node) = at;
    both.note(format!("{node} gives up the slot of {tag}"));
    let slot = Fleet::slot_of(tag.as_bytes());
    admins[node].must(&[b"CLUSTER", b"DELSLOTS", slot.to_string().as_bytes()]);
    let now = both.now();
    assert!(
        both.model.delete_slot(now, NodeId(node), slot),
        "it is its own"
    );
    missing.push(at);
}

fn take(both: &mut Both<'_>, admins: &mut [RealConn], (tag, node): (&str, usize)) {
    both.note(format!("{node} takes the slot of {tag}"));
    let slot = Fleet::slot_of(tag.as_bytes());
    admins[node].must(&[b"CLUSTER", b"ADDSLOTS", slot.to_string().as_bytes()]);
    let now = both.now();
    both.model.add_slot(now, NodeId(node), slot);
}
