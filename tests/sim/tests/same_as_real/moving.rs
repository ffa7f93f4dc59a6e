//! Sequences on a cluster of three masters, one or two slots of which are on their way.

use std::ops::Range;
use std::time::Instant;

use dlock_sim::server::{Fleet, FleetConfig, Migration, NodeId};
use fastrand::Rng;

use crate::arguments::Locks;
use crate::commands::{self, KeyNames, Words, pick, words};
use crate::compare::Both;
use crate::conf::{Shape, name};
use crate::real::{Real, RealConn};
use crate::scripts::{self, LIBRARY, MUTEX};
use crate::single::time;
use crate::slots::{Home, MASTERS, give, migrate, put_back};

/// Tags of slots of different masters; those of `d` and `a` are one master's.
const TAGS: [&str; 2] = ["a", "b"];
const KEYS: KeyNames<'_> = KeyNames {
    stems: &["{a}k", "{b}k", "{a}k", "{d}k"],
};
const LOCKS: [&str; 2] = ["dlock:{a}", "dlock:{b}"];
const CHANNELS: [&str; 4] = ["c0", "dlock~c:{a}:c0", "dlock~c:{a}:c1", "dlock~c:{b}:c2"];

pub(crate) fn compare(seeds: Range<u64>) {
    let real = Real::start(Shape {
        masters: MASTERS,
        replicas: 0,
    });
    let mut admins: Vec<RealConn> = (0..MASTERS).map(|number| real.connect(number)).collect();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        sequence(&real, &mut admins, seed);
    }
    println!(
        "{count} sequences on a cluster of {:?}: equal replies",
        real.flavour
    );
}

/// The migration that is under way.
struct Moving {
    slot: u16,
    tag: &'static str,
    home: usize,
    model: Migration,
    /// Whether the old owner has called it off.
    off: bool,
}

fn sequence(real: &Real, admins: &mut [RealConn], seed: u64) {
    for admin in &mut *admins {
        admin.must(&[b"CONFIG", b"SET", b"maxmemory", b"0"]);
        admin.must(&[b"FLUSHALL"]);
        admin.must(&[b"SCRIPT", b"FLUSH"]);
    }
    let mut rng = Rng::with_seed(seed);
    let began = Instant::now();
    let config = FleetConfig {
        wall_micros: time(&mut admins[0]),
        first_port: real.first_port,
        ..FleetConfig::default()
    };
    let mut both = Both::new(
        real,
        Fleet::cluster(real.flavour, MASTERS, 0, config),
        began,
        seed,
    );
    for node in 0..MASTERS {
        for _ in 0..2 {
            let conn = both.connect(node);
            both.resp3(conn);
        }
    }
    // From one server to another messages take their time: clients that may get one subscribe at the start.
    both.ask(0, &[words(&["SUBSCRIBE", "c0"])]);
    let mut locks = locks(real, &mut admins[0]);
    let (mut moving, mut moved) = (None, Vec::new());
    for _ in 0..rng.usize(10..35) {
        match rng.u8(0..12) {
            0..3 => step(&mut rng, &mut both, admins, &mut moving, &mut moved),
            3 => channel(&mut rng, &mut both, 2 * MASTERS),
            _ => {
                let mut requests = vec![request(&mut rng, &mut locks)];
                if rng.u8(0..3) == 0 {
                    requests.insert(0, words(&["ASKING"]));
                }
                let conn = rng.usize(0..2 * MASTERS);
                both.ask(conn, &requests);
            }
        }
    }
    both.look_everywhere();
    for node in 0..MASTERS {
        let dump = ["{a}k0", "{a}k1", "{a}k2", "{b}k0", LOCKS[0], LOCKS[1]];
        let dump = dump.into_iter().chain(["{a}m", "dlock~m:{a}m"]);
        let requests: Vec<Words> = dump
            .flat_map(|key| [["HGETALL", key], ["GET", key], ["PTTL", key]])
            .flat_map(|request| [words(&["ASKING"]), words(&request)])
            .collect();
        both.ask(2 * node, &requests);
    }
    both.end();
    let homes = |moving: &Moving| Home {
        slot: moving.slot,
        node: moving.home,
    };
    let moved: Vec<Home> = moved.iter().map(homes).collect();
    put_back(real, admins, moving.as_ref().map(homes), &moved);
}

/// Locks of two slots.
pub(crate) fn locks(real: &Real, admin: &mut RealConn) -> Locks<'static> {
    let publish: &[&str] = if real.flavour.has_sharded_channels() {
        &["S5", "L5", "R5", ""]
    } else {
        &["L5", "R5", ""]
    };
    Locks {
        keys: &LOCKS,
        micros: time(admin),
        publish,
        tokens: Vec::new(),
    }
}

/// A command, a small script or a lock's.
pub(crate) fn request(rng: &mut Rng, locks: &mut Locks<'_>) -> Words {
    match rng.u8(0..12) {
        0..3 => commands::draw(rng, KEYS),
        3 => scripts::draw(rng, KEYS),
        4 => scripts::several_keys(rng, KEYS),
        5..7 => scripts::beside(rng, &TAGS),
        7 => Locks::plain(rng),
        8..10 => {
            let script = rng.usize(..MUTEX.len());
            let mut request = words(&["EVAL", &scripts::library(MUTEX[script], None)]);
            request.extend(locks.of_mutex(rng, script));
            request
        }
        _ => {
            let script = rng.usize(..LIBRARY.len());
            let mut request = words(&["EVAL", &scripts::library(LIBRARY[script], None)]);
            request.extend(locks.draw(rng, script));
            request
        }
    }
}

/// Something about channels, on any of the connections.
pub(crate) fn channel(rng: &mut Rng, both: &mut Both<'_>, conns: usize) {
    let sharded = both.real.flavour.has_sharded_channels();
    let channel = pick(rng, &CHANNELS);
    let other = pick(rng, &CHANNELS);
    let command = match rng.u8(0..7) {
        0..2 if sharded => words(&["SSUBSCRIBE", channel]),
        2 if sharded => words(&["SUNSUBSCRIBE", channel]),
        3 if sharded => words(&["SPUBLISH", channel, "hello"]),
        4 if sharded => words(&["SSUBSCRIBE", channel, other]),
        _ => words(&["PUBLISH", "c0", "hello"]),
    };
    let conn = rng.usize(0..conns);
    both.ask(conn, &[command]);
}

/// The next step of a migration.
fn step(
    rng: &mut Rng,
    both: &mut Both<'_>,
    admins: &mut [RealConn],
    moving: &mut Option<Moving>,
    moved: &mut Vec<Moving>,
) {
    let now = both.now();
    let Some(current) = moving.as_mut() else {
        *moving = begin(rng, both, admins, moved);
        return;
    };
    let (slot, from, to) = (
        current.slot.to_string(),
        current.model.from,
        current.model.to,
    );
    let set = |admins: &mut [RealConn], node: NodeId, what: &[&str]| {
        let command: Vec<&[u8]> = ["CLUSTER", "SETSLOT", &slot]
            .iter()
            .chain(what)
            .map(|word| word.as_bytes())
            .collect();
        admins[node.0].must(&command);
    };
    match rng.u8(0..5) {
        _ if current.off => {
            both.note("keys go back, and the target forgets");
            carry(both, admins, current, true, u8::MAX, rng);
            set(admins, to, &["STABLE"]);
            both.model.migrate_forget(now, &current.model);
            *moving = None;
        }
        0..3 => carry(both, admins, current, false, 2, rng),
        3 => {
            both.note("the migration is called off");
            set(admins, from, &["STABLE"]);
            both.model.migrate_call_off(now, &current.model);
            current.off = true;
        }
        _ => {
            both.note("the migration is finished");
            carry(both, admins, current, false, u8::MAX, rng);
            give(both.real, admins, current.slot, to.0);
            both.model.migrate_finish(now, &current.model);
            both.model.migrate_tell(now, &current.model);
            both.carry_links();
            moved.extend(moving.take());
        }
    }
}

fn begin(
    rng: &mut Rng,
    both: &mut Both<'_>,
    admins: &mut [RealConn],
    moved: &[Moving],
) -> Option<Moving> {
    let tag = pick(rng, &TAGS);
    let slot = Fleet::slot_of(tag.as_bytes());
    let to = NodeId(rng.usize(..MASTERS));
    let now = both.now();
    let model = both.model.migrate_begin(now, slot, to)?;
    both.note(format!(
        "slot {slot} of {tag} begins to move from {} to {}",
        model.from.0, to.0
    ));
    let number = slot.to_string();
    let (source, target) = (name(model.from.0), name(to.0));
    for (node, what, other) in [(to, "IMPORTING", source), (model.from, "MIGRATING", target)] {
        let command = ["CLUSTER", "SETSLOT", &number, what, &other].map(str::as_bytes);
        admins[node.0].must(&command);
    }
    let home = moved
        .iter()
        .find(|moving| moving.slot == slot)
        .map_or(model.from.0, |moving| moving.home);
    Some(Moving {
        slot,
        tag,
        home,
        model,
        off: false,
    })
}

/// Moves some of the keys that may be there.
fn carry(
    both: &mut Both<'_>,
    admins: &mut [RealConn],
    moving: &Moving,
    back: bool,
    most: u8,
    rng: &mut Rng,
) {
    let Migration { from, to, .. } = moving.model;
    let (from, to) = if back { (to, from) } else { (from, to) };
    let mut keys: Vec<String> = (0..4)
        .map(|number| format!("{{{}}}k{number}", moving.tag))
        .collect();
    keys.push(format!("dlock:{{{}}}", moving.tag));
    keys.push(format!("{{{}}}m", moving.tag));
    keys.push(format!("dlock~m:{{{}}}m", moving.tag));
    rng.shuffle(&mut keys);
    for key in keys.iter().take(most.into()) {
        let real = migrate(both.real, &mut admins[from.0], to.0, key);
        let now = both.now();
        let model = both.model.migrate_key(now, from, to, key.as_bytes());
        both.note(format!("{key} moves from {} to {}: {real}", from.0, to.0));
        assert_eq!(
            real, model,
            "seed {}: {key} moves from {} to {}",
            both.seed, from.0, to.0
        );
        if !real && most == u8::MAX {
            // One of the name is there: what is behind must go for the slot to move.
            admins[from.0].ask(&[b"ASKING"]);
            admins[from.0].must(&[b"DEL", key.as_bytes()]);
            both.model.evict(now, from, key.as_bytes());
        }
    }
}
