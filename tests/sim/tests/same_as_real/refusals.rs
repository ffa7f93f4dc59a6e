//! Sequences of every command on one server that has too little memory, too few replicas, or both.

use std::ops::Range;

use dlock_sim::server::NodeId;
use fastrand::Rng;

use crate::commands::{KeyNames, words};
use crate::compare::Both;
use crate::conf::Shape;
use crate::every;
use crate::real::{Real, RealConn};
use crate::single::fresh;

const KEYS: KeyNames<'_> = KeyNames { stems: &["k"] };

pub(crate) fn compare(seeds: Range<u64>) {
    let real = Real::start(Shape::SINGLE);
    let mut admin = real.connect(0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        sequence(&real, &mut admin, seed);
    }
    let flavour = real.flavour;
    println!("{count} sequences on one {flavour:?} that refuses: equal replies");
}

fn sequence(real: &Real, admin: &mut RealConn, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut both = fresh(real, admin, seed);
    both.connect(0);
    both.connect(0);
    both.resp3(1);
    for key in 0..4 {
        let key = format!("k{key}");
        let make = [
            words(&["HSET", &key, "f1", "1", "f9", "x"]),
            words(&["SET", &key, "5"]),
            words(&["DEL", &key]),
        ];
        both.ask(0, &[make[rng.usize(..make.len())].clone()]);
    }
    refuse(&mut rng, &mut both, admin, 0);
    for _ in 0..rng.usize(15..30) {
        let conn = rng.usize(0..2);
        match rng.u8(0..12) {
            0 => refuse(&mut rng, &mut both, admin, 0),
            1..7 => both.ask(conn, &[every::in_script(&mut rng, KEYS)]),
            _ => both.ask(conn, &[every::draw(&mut rng, KEYS)]),
        }
    }
    both.end();
}

/// A server has memory from now on or has not, and wants so many replicas.
pub(crate) fn refuse(rng: &mut Rng, both: &mut Both<'_>, admin: &mut RealConn, node: usize) {
    let full = rng.bool();
    let wanted = rng.usize(0..3);
    both.note(format!(
        "{node}: memory is full: {full}, wanted replicas: {wanted}"
    ));
    let most: &[u8] = if full { b"1" } else { b"0" };
    admin.must(&[b"CONFIG", b"SET", b"maxmemory", most]);
    let wants = wanted.to_string();
    admin.must(&[
        b"CONFIG",
        b"SET",
        b"min-replicas-to-write",
        wants.as_bytes(),
    ]);
    both.model.set_full(NodeId(node), full);
    both.model.set_min_replicas(NodeId(node), wanted);
}
