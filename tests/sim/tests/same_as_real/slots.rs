//! Slots of a real cluster: moving them, and putting them back.

use std::time::{Duration, Instant};

use dlock_sim::server::Flavour;

use crate::conf::name;
use crate::real::{Real, RealConn};
use crate::value::Value;

/// How many masters the cluster has.
pub(crate) const MASTERS: usize = 3;

/// Where a slot was at the start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home {
    pub(crate) slot: u16,
    pub(crate) node: usize,
}

/// Whether the key is no longer where it was.
pub(crate) fn migrate(real: &Real, admin: &mut RealConn, to: usize, key: &str) -> bool {
    let port = real.port(to).to_string();
    let reply = admin.ask(&[
        b"MIGRATE",
        b"127.0.0.1",
        port.as_bytes(),
        key.as_bytes(),
        b"0",
        b"5000",
    ]);
    match reply {
        Value::Line('+', _) => true,
        Value::Line('-', line) if line.contains("BUSYKEY") => false,
        other => panic!("{key}: {other:?}"),
    }
}

/// All slots are where they were before.
pub(crate) fn put_back(real: &Real, admins: &mut [RealConn], open: Option<Home>, moved: &[Home]) {
    for admin in &mut *admins {
        admin.must(&[b"FLUSHALL"]);
    }
    for moving in open.iter().chain(moved) {
        let slot = moving.slot.to_string();
        for admin in &mut *admins {
            admin.must(&[b"CLUSTER", b"SETSLOT", slot.as_bytes(), b"STABLE"]);
        }
        if moved.iter().any(|other| other.slot == moving.slot) {
            let from = name((moving.node + 1) % MASTERS);
            // That fails where it has come home already.
            let reply = admins[moving.node].ask(&[
                b"CLUSTER",
                b"SETSLOT",
                slot.as_bytes(),
                b"IMPORTING",
                from.as_bytes(),
            ]);
            if !reply.is_error() {
                give(real, admins, moving.slot, moving.node);
            }
        }
    }
}

/// A server that imports a slot takes it, and all others know of that before this ends.
pub(crate) fn give(real: &Real, admins: &mut [RealConn], slot: u16, to: usize) {
    let (slot, id) = (slot.to_string(), name(to));
    let command = [
        b"CLUSTER",
        b"SETSLOT",
        slot.as_bytes(),
        b"NODE",
        id.as_bytes(),
    ];
    admins[to].must(&command);
    // Later servers tell all others of it at once. A node that an old one greets hears of its epoch now, and not with one of the
    // next heartbeats.
    let is_old = real.flavour == Flavour::Redis62;
    for other in (0..MASTERS).filter(|other| is_old && *other != to) {
        let port = real.port(other).to_string();
        admins[to].must(&[b"CLUSTER", b"MEET", b"127.0.0.1", port.as_bytes()]);
    }
    let until = Instant::now() + Duration::from_secs(20);
    let epoch = epoch_of(&mut admins[to], &id);
    while !admins.iter_mut().all(|admin| epoch_of(admin, &id) == epoch) {
        assert!(
            Instant::now() < until,
            "the servers do not hear of epoch {epoch}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    for other in (0..MASTERS).filter(|other| *other != to) {
        admins[other].must(&command);
    }
}

/// The epoch of a server, as another knows it.
fn epoch_of(admin: &mut RealConn, id: &str) -> String {
    let text = admin.told(&[b"CLUSTER", b"NODES"]);
    let line = text
        .lines()
        .find(|line| line.starts_with(id))
        .expect("the server is known");
    line.split(' ')
        .nth(6)
        .expect("a line has an epoch")
        .to_owned()
}
