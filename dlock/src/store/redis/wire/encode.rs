//! Operations as commands and scripts.

use std::fmt;
use std::time::Duration;

use redis::{Cmd, Pipeline, RedisWrite, Value};

use super::decode::int;
use super::script::{Script, hash, source};
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::mode::LockMode;
use crate::protocol::{Extent, Op, PlaceTerms, Stray, forget_after, whole_millis};

/// How an operation is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a command of Redis.
    Plain,
    /// As a script that the server knows.
    Hash(Script),
    /// As the text of a script.
    Text(Script),
}

impl Form {
    /// The form that costs least while no other client wants the lock.
    pub(crate) fn uncontended(key: &LockKey, op: &Op) -> Self {
        if has_plain(key.kind(), op) {
            return Self::Plain;
        }
        Script::brief(key.kind(), op).map_or_else(|| Self::contended(key, op), Self::Hash)
    }

    /// The form that does for all cases.
    pub(crate) fn contended(key: &LockKey, op: &Op) -> Self {
        Self::Hash(Script::of(key.kind(), op))
    }

    /// For a server that does not know the script.
    pub(crate) fn as_text(self) -> Self {
        match self {
            Self::Hash(script) => Self::Text(script),
            form => form,
        }
    }

    /// The script, if it is one.
    pub(crate) fn script(self) -> Option<Script> {
        match self {
            Self::Plain => None,
            Self::Hash(script) | Self::Text(script) => Some(script),
        }
    }

    /// Whether it only works for a lock that no other client wants.
    pub(crate) fn is_brief(self) -> bool {
        self.script().is_none_or(Script::is_brief)
    }

    /// Whether the answer is that this form cannot do; then it has done nothing.
    pub(crate) fn falls_short(self, answer: &Value) -> bool {
        self.is_brief() && (int(answer) == Some(0) || *answer == Value::Nil)
    }
}

/// The command, which is valid until then (see [`encode`]).
pub(crate) fn command(
    form: Form,
    key: &LockKey,
    keys: Keys,
    op: &Op,
    publishing: &str,
    valid_until: u64,
) -> Cmd {
    if form == Form::Plain
        && let Some(plain) = encode_plain(key, op)
    {
        return plain;
    }
    let script = form.script().unwrap_or_else(|| Script::of(key.kind(), op));
    let (name, text) = match form {
        Form::Plain | Form::Hash(_) => ("EVALSHA", hash(script)),
        Form::Text(_) => ("EVAL", source(script)),
    };
    let mut cmd = Cmd::with_capacity(9, text.len() + key.as_str().len() + 160);
    cmd.write_arg(name.as_bytes());
    cmd.write_arg(text.as_bytes());
    if script.is_brief() {
        encode_brief(&mut cmd, key, op);
    } else {
        encode(&mut cmd, key, keys, op, publishing, valid_until);
    }
    cmd
}

/// A command that is sent right before a request, so that no other request comes in between.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Preface {
    /// Has this client hear of the request's outcome after others.
    Ping,
    /// Has a node that a slot is moving to take the request.
    Asking,
}

impl Preface {
    /// Both, to be written in one go.
    pub(crate) fn before(self, request: Cmd) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(2);
        pipeline.cmd(match self {
            Self::Ping => "PING",
            Self::Asking => "ASKING",
        });
        pipeline.add_command(request);
        pipeline
    }
}

/// How long a key outlives the latest deadline in it, rounded up.
const GRACE_MILLIS: u64 = 1001;

/// How many holds, and how many waiters, an inspection lists.
const LISTED: u32 = 100;

/// Which keys of a lock a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// All that the operation is about.
    All,
    /// Of a mutex only the string, without the hash beside it: where the two are at different nodes.
    First,
}

/// Appends what follows the script in `EVAL` and `EVALSHA`: the keys and the arguments.
///
/// `publish` says how waiters are woken: `S` by `SPUBLISH`, `P` by `PUBLISH`, `L` by `PUBLISH` in a cluster, where the
/// number of subscribers is unknown. `R` and `N` return the messages that the first two would publish. Empty wakes no
/// waiter. A small letter stands for a single server, where a client has one channel for all locks. `valid_until` is
/// the server's time in microseconds until which an acquire may take effect; for operations that end one, the latest
/// such time of its duplicates.
pub fn encode(cmd: &mut Cmd, key: &LockKey, keys: Keys, op: &Op, publish: &str, valid_until: u64) {
    let publishing = Publishing(publish, key.prefix().len());
    name_keys(cmd, key, keys);
    let is_mutex = key.kind().is_mutex();
    let buried_until = |stray: Stray| match stray {
        Stray::None => 0,
        Stray::Possible => valid_until,
    };
    match op {
        Op::Acquire {
            hold,
            mode,
            lease,
            owner,
            place,
        } => {
            let millis = millis(*lease);
            let kept = millis + GRACE_MILLIS;
            // One argument less for the most frequent request.
            let brief = *mode == LockMode::Write && owner.is_none();
            if is_mutex {
                cmd.write_arg_fmt(hold);
                cmd.write_arg_fmt(millis);
            } else if brief {
                cmd.write_arg_fmt(format_args!("={hold}"));
                cmd.write_arg_fmt(kept);
            } else {
                cmd.write_arg_fmt(format_args!("={hold}"));
                let (mode, owner) = (letter(*mode), owner.as_deref().unwrap_or(""));
                cmd.write_arg_fmt(format_args!("{mode} {millis}000 0 {owner}"));
            }
            write_place(cmd, *place, &publishing, valid_until);
            if is_mutex {
                cmd.write_arg_fmt(u8::from(key.kind().has_tokens()));
            } else if !brief {
                cmd.write_arg_fmt(kept);
            }
        }
        Op::Release { hold, lease, stray } => {
            cmd.write_arg_fmt(hold);
            if is_mutex {
                // Each argument less is to be felt in what is nearly nothing but two commands.
                cmd.write_arg_fmt(&publishing);
                if *stray == Stray::Possible {
                    cmd.write_arg_fmt(buried_until(*stray));
                }
                return;
            }
            match forget_after(*lease) {
                Some(forget) => cmd.write_arg_fmt(millis(forget) + GRACE_MILLIS),
                None => cmd.write_arg(b""),
            }
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Renew {
            hold,
            lease,
            extent,
        } => {
            cmd.write_arg_fmt(hold);
            write_extension(cmd, key.kind(), *lease);
            if let Extent::Exactly { stray } = extent {
                cmd.write_arg_fmt(buried_until(*stray));
            }
        }
        Op::Abandon { hold, stray } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Yield {
            hold,
            lease,
            seen,
            stray,
        } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(micros(whole_millis(*lease)));
            cmd.write_arg_fmt(seen);
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Raise { hold, token } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(token);
        }
        Op::Inspect => cmd.write_arg_fmt(LISTED),
    }
}

/// For how long the request is valid, and what is asked for if the lock is not free.
fn write_place(
    cmd: &mut Cmd,
    place: Option<PlaceTerms>,
    publishing: &Publishing<'_>,
    valid_until: u64,
) {
    let valid_until = Sixteen(valid_until);
    let Some(place) = place else {
        // A client that enters beside waiting readers may have to notify them.
        cmd.write_arg_fmt(format_args!("{valid_until} 0 0 - {publishing}"));
        return;
    };
    let (lease, nonce) = (micros(place.lease), place.nonce);
    // A client that publishes in another mode than this one subscribes must not take it for subscribed.
    let ear = match publishing.0 {
        "S" | "s" | "R" | "r" if place.subscribed => 1,
        "P" | "p" | "N" | "n" if place.subscribed => 3,
        _ => 0,
    };
    cmd.write_arg_fmt(format_args!(
        "{valid_until} {lease} {ear} {nonce} {publishing}"
    ));
}

/// For how long a hold is extended: a read/write lock's key lives longer, and a mutex' token may have to be remembered.
fn write_extension(cmd: &mut Cmd, kind: LockKind, lease: Duration) {
    if kind.is_mutex() {
        cmd.write_arg_fmt(millis(lease));
        cmd.write_arg_fmt(u8::from(kind.has_tokens()));
    } else {
        cmd.write_arg_fmt(millis(lease) + GRACE_MILLIS);
    }
}

/// What follows a [brief](super::Script::brief) script.
pub fn encode_brief(cmd: &mut Cmd, key: &LockKey, op: &Op) {
    name_keys(cmd, key, Keys::First);
    if let Op::Release { hold, .. } = op {
        cmd.write_arg_fmt(hold);
    }
}

fn name_keys(cmd: &mut Cmd, key: &LockKey, keys: Keys) {
    let beside = keys == Keys::All && key.kind().is_mutex() && !key.is_apart();
    cmd.write_arg(if beside { b"2" } else { b"1" });
    cmd.write_arg(key.as_str().as_bytes());
    if beside {
        cmd.write_arg(key.record().as_bytes());
    }
}

fn letter(mode: LockMode) -> char {
    match mode {
        LockMode::Read => 'r',
        LockMode::Write => 'w',
    }
}

/// A lease in whole milliseconds. (Durations' own 128-bit numbers take several times as long to write.)
fn millis(lease: Duration) -> u64 {
    u64::try_from(whole_millis(lease).as_millis()).unwrap_or(u64::MAX)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// A number in sixteen digits, so that texts compare as the numbers do. The server's time has sixteen digits until the
/// year 2286.
struct Sixteen(u64);

impl fmt::Display for Sixteen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000_000_000_000_000 {
            write!(f, "{:016}", self.0)
        } else {
            self.0.fmt(f)
        }
    }
}

/// How to publish, and where the key's prefix ends, behind which `~c` makes it a channel.
struct Publishing<'p>(&'p str, usize);

impl fmt::Display for Publishing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self("", _) => Ok(()),
            Self(publish, prefix) => write!(f, "{publish}{prefix}"),
        }
    }
}

/// Whether there is a command of Redis that does what an operation does to a lock's only hold if no client waits and
/// there is nothing else to record.
pub(super) fn has_plain(kind: LockKind, op: &Op) -> bool {
    match (kind, op) {
        (
            LockKind::Rw,
            Op::Release {
                lease,
                stray: Stray::None,
                ..
            },
        ) => forget_after(*lease).is_none(),
        (LockKind::Mutex, Op::Acquire { .. }) => true,
        _ => false,
    }
}

/// That command, for a release, or to acquire a mutex; it is a fraction of the work of a script. The answer 0, or none, says
/// that it has found something else, which is for the script to judge.
#[must_use]
pub fn encode_plain(key: &LockKey, op: &Op) -> Option<Cmd> {
    if !has_plain(key.kind(), op) {
        return None;
    }
    let mut cmd = Cmd::with_capacity(6, key.as_str().len() + 80);
    match op {
        Op::Release { hold, .. } => {
            cmd.write_arg(b"HDEL");
            cmd.write_arg(key.as_str().as_bytes());
            cmd.write_arg_fmt(format_args!("={hold}"));
        }
        Op::Acquire { hold, lease, .. } => {
            cmd.write_arg(b"SET");
            cmd.write_arg(key.as_str().as_bytes());
            cmd.write_arg_fmt(hold);
            cmd.write_arg(b"NX");
            cmd.write_arg(b"PX");
            cmd.write_arg_fmt(millis(*lease));
        }
        _ => return None,
    }
    Some(cmd)
}
