//! The scripts on a real server, with the time, the ears and the faults of a test.

mod check;
mod outcome;
mod record;

use std::cell::RefCell;
use std::collections::BTreeMap;

use dlock::__internals::{Keys, Op, Script, encode, encode_plain, script_source};
use dlock::LockKey;
use redis::{Arg, Connection};

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
    /// What is done to it.
    pub op: &'a Op,
    /// Until when the request is valid.
    pub valid_until: u64,
    /// The server's time, in microseconds.
    pub time: u64,
    /// How scripts are told to publish.
    pub publish: &'a str,
    /// The clients that do not hear.
    pub deaf: &'a [String],
    /// Whether a release is tried as a plain command first, if it has that form.
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

    /// Runs one script.
    #[must_use]
    pub fn play(&self, scene: &Scene<'_>) -> Outcome {
        let script = Script::of(scene.key.kind(), scene.op);
        let index = Script::ALL.iter().position(|of| *of == script);
        let digests = &self.digests[usize::from(scene.pieces == Pieces::OfTwo)];
        let plain = scene.plain && encode_plain(scene.key, scene.op).is_some();
        let fault = scene.fault.map_or_else(String::new, |fault| {
            format!("{} {} {}", fault.from, fault.to, fault.commands)
        });

        let mut command = redis::cmd("EVALSHA");
        command
            .arg(&digests[index.expect("all scripts are loaded")])
            .arg(2)
            .arg(scene.key.as_str())
            .arg(side(scene.key))
            .arg(scene.time)
            .arg(format!("|{}|", scene.deaf.join("|")))
            .arg(fault)
            .arg(scene.fault.map_or("", |fault| fault.error))
            .arg(u8::from(plain));
        let mut own = redis::Cmd::new();
        encode(
            &mut own,
            scene.key,
            Keys::All,
            scene.op,
            scene.publish,
            scene.valid_until,
        );
        // Without the number of keys and the key.
        for argument in own.args_iter().skip(2) {
            if let Arg::Simple(bytes) = argument {
                command.arg(bytes);
            }
        }
        let value = command
            .query(&mut *self.connection.borrow_mut())
            .unwrap_or_else(|error| panic!("{:?}: {error}", scene.op));
        Outcome::read(scene.op, value)
    }

    /// Makes a lock what an earlier script has left.
    pub fn restore(&self, key: &LockKey, fields: &BTreeMap<String, String>, kept: Option<u64>) {
        let mut pipeline = redis::pipe();
        pipeline.del(&[key.as_str(), &side(key)]).ignore();
        if !fields.is_empty() {
            let fields: Vec<_> = fields.iter().collect();
            pipeline.hset_multiple(key.as_str(), &fields).ignore();
        }
        if let Some(kept) = kept {
            pipeline.set(side(key), kept / 1000).ignore();
        }
        pipeline
            .query::<()>(&mut *self.connection.borrow_mut())
            .expect("the server takes the record");
    }

    /// Removes a lock.
    pub fn clear(&self, key: &LockKey) {
        self.restore(key, &BTreeMap::new(), None);
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

/// Where the expiry of a lock's key is noted.
fn side(key: &LockKey) -> String {
    format!("{}:kept", key.as_str())
}

/// A script that finds the test's `redis` instead of the server's.
fn staged(script: Script, pieces: Pieces) -> String {
    let mut source = script_source(script).to_owned();
    if pieces == Pieces::OfTwo {
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
