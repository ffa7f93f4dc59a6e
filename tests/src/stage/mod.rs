//! The scripts on a real server, with the time, the ears and the faults of a test.

mod check;
mod lock;
mod mutex;
mod outcome;
mod record;

use std::cell::RefCell;
use std::collections::BTreeMap;

use dlock::__internals::{
    Keys, Op, Reply, Script, encode, encode_brief, encode_plain, record_of, script_source,
};
use dlock::LockKey;
use redis::{Arg, Cmd, Connection};

pub use self::lock::StagedLock;
pub use self::mutex::{Held, Moments, MutexRecord};
pub use self::outcome::{Outcome, Told};
pub use self::record::{Line, Place, Record, RecordedHold, Strictness};
use crate::RedisServer;

/// How many holds or waiters a script deals with at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// As in production.
    Whole,
    /// Two, so that a test needs no crowds.
    OfTwo,
}

/// One server with the scripts loaded.
pub struct Stage {
    connection: RefCell<Connection>,
    digests: [Vec<String>; 2],
}

/// The circumstances of one operation.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The lock.
    pub key: &'a LockKey,
    /// The operations on it.
    pub op: &'a Op,
    /// Until when the request is valid.
    pub valid_until: u64,
    /// The server's time, in microseconds.
    pub time: u64,
    /// How scripts are told to publish.
    pub publish: &'a str,
    /// The clients that do not hear.
    pub deaf: &'a [String],
    /// Which keys the script is given.
    pub keys: Keys,
    /// Whether the plain command, or the brief script, is tried first, if the operation has one.
    pub plain: bool,
    /// Which scripts.
    pub pieces: Pieces,
    /// What goes wrong.
    pub fault: Option<Fault<'a>>,
}

/// Commands inside a script that the server refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The first command concerned, counted from 1.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// Which commands among them: `|HSET|HDEL|`, or `|*|`.
    pub commands: &'a str,
    /// What the server says.
    pub error: &'a str,
}

impl Stage {
    /// Loads the scripts.
    #[must_use]
    pub fn on(server: &RedisServer) -> Self {
        let mut connection = redis::Client::open(server.url())
            .and_then(|client| client.get_connection())
            .expect("the server answers");
        let mut load = |pieces| {
            Script::ALL
                .map(|script| {
                    redis::cmd("SCRIPT")
                        .arg("LOAD")
                        .arg(staged(script, pieces))
                        .query(&mut connection)
                        .unwrap_or_else(|error| panic!("{script:?}: {error}"))
                })
                .to_vec()
        };
        let digests = [load(Pieces::Whole), load(Pieces::OfTwo)];
        Self {
            connection: RefCell::new(connection),
            digests,
        }
    }

    /// Carries out one operation.
    #[must_use]
    pub fn play(&self, scene: &Scene<'_>) -> Outcome {
        let (kind, op) = (scene.key.kind(), scene.op);
        if let Some(script) = Script::brief(kind, op).filter(|_| scene.plain) {
            let mut own = Cmd::new();
            encode_brief(&mut own, scene.key, op);
            let outcome = self.run_script(scene, script, &own);
            // That says it has done nothing.
            if outcome.answer != Ok(Reply::Gone) {
                return outcome;
            }
        }
        let mut own = Cmd::new();
        let (publish, valid_until) = (scene.publish, scene.valid_until);
        encode(&mut own, scene.key, scene.keys, op, publish, valid_until);
        self.run_script(scene, Script::of(kind, op), &own)
    }

    fn run_script(&self, scene: &Scene<'_>, script: Script, own: &Cmd) -> Outcome {
        let index = Script::ALL.iter().position(|of| *of == script);
        let digests = &self.digests[usize::from(scene.pieces == Pieces::OfTwo)];
        let plain = encode_plain(scene.key, scene.op).filter(|_| scene.plain);
        let plain = plain.map_or_else(Vec::new, |plain| words(&plain));
        let fault = scene.fault.map_or_else(String::new, |fault| {
            format!("{} {} {}", fault.from, fault.to, fault.commands)
        });
        let own = words(own);
        let (count, rest) = own.split_first().expect("the number of keys");
        let given = usize::from(count.as_slice() == b"2") + 1;

        let mut command = redis::cmd("EVALSHA");
        let keys = kept_keys(scene.key);
        command
            .arg(&digests[index.expect("all scripts are loaded")])
            .arg(keys.len())
            .arg(keys)
            .arg(scene.time)
            .arg(format!("|{}|", scene.deaf.join("|")))
            .arg(fault)
            .arg(scene.fault.map_or("", |fault| fault.error))
            .arg(plain.len())
            .arg(given)
            .arg(plain)
            .arg(&rest[given..]);
        let value = command
            .query(&mut *self.connection.borrow_mut())
            .unwrap_or_else(|error| panic!("{:?}: {error}", scene.op));
        Outcome::read(scene.op, value)
    }

    /// Makes a lock what an earlier script has left.
    pub fn restore(
        &self,
        key: &LockKey,
        fields: &BTreeMap<String, String>,
        kept: Option<u64>,
        held: Option<&Held>,
    ) {
        let hash = record_of(key);
        let mut pipeline = redis::pipe();
        pipeline.del(kept_keys(key)).ignore();
        if !fields.is_empty() {
            let fields: Vec<_> = fields.iter().collect();
            pipeline.hset_multiple(hash, &fields).ignore();
        }
        if let Some(kept) = kept {
            pipeline.set(side(hash), kept / 1000).ignore();
        }
        put(&mut pipeline, key, held);
        self.run(&pipeline);
    }

    /// Makes a mutex' string this, whatever it was, or removes it.
    pub fn hold(&self, key: &LockKey, held: Option<&Held>) {
        let string = key.as_str();
        let mut pipeline = redis::pipe();
        pipeline.del(&[string, &side(string)]).ignore();
        put(&mut pipeline, key, held);
        self.run(&pipeline);
    }

    fn run(&self, pipeline: &redis::Pipeline) {
        pipeline
            .query::<()>(&mut *self.connection.borrow_mut())
            .expect("the server takes the record");
    }

    /// Removes a lock.
    pub fn clear(&self, key: &LockKey) {
        self.restore(key, &BTreeMap::new(), None, None);
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

/// Writes a mutex' string.
fn put(pipeline: &mut redis::Pipeline, key: &LockKey, held: Option<&Held>) {
    let string = key.as_str();
    if let Some(held) = held {
        let mark = if held.marked { "+" } else { "" };
        pipeline
            .set(string, format!("{}{mark}", held.value))
            .ignore();
        if let Some(until) = held.until {
            pipeline.set(side(string), until).ignore();
        }
    }
}

/// Where the expiry of a key is noted.
fn side(key: &str) -> String {
    format!("{key}:kept")
}

/// The keys of a lock, each with where its expiry is noted; the hash last.
fn kept_keys(key: &LockKey) -> Vec<String> {
    let mut keys = vec![key.as_str().to_owned(), side(key.as_str())];
    if key.kind().is_mutex() {
        let hash = record_of(key);
        keys.extend([hash.to_owned(), side(hash)]);
    }
    keys
}

/// A command's words.
fn words(command: &Cmd) -> Vec<Vec<u8>> {
    let words = command.args_iter().filter_map(|word| match word {
        Arg::Simple(bytes) => Some(bytes.to_vec()),
        _ => None,
    });
    words.collect()
}

/// A script that finds the test's `redis` instead of the server's.
fn staged(script: Script, pieces: Pieces) -> String {
    let mut source = script_source(script).to_owned();
    if pieces == Pieces::OfTwo && script != Script::MutexUnlock {
        for (whole, two) in [
            ("local PIECE = 128\n", "local PIECE = 2\n"),
            ("local CLEAR = 64\n", "local CLEAR = 2\n"),
        ] {
            assert!(source.contains(whole), "{script:?}");
            source = source.replace(whole, two);
        }
    }
    let stage = include_str!("stage.lua");
    let marker = "-- the script\n";
    assert!(stage.contains(marker));
    stage.replace(marker, &source)
}
