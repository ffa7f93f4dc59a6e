//! How operations are written for Redis, and their answers read. Nothing else knows.

use std::fmt;
use std::time::Duration;

use redis::{Cmd, RedisWrite, Value};

use super::{HoldInfo, LockInfo, Op, Reply, Stray, WaiterInfo, forget_after, whole_millis};
use crate::key::LockKey;
use crate::mode::Mode;
use crate::token::FencingToken;

/// How long a key outlives the latest deadline in it, rounded up.
const GRACE_MILLIS: u64 = 1001;

/// How many holds, and how many waiters, an inspection lists.
const LISTED: u32 = 100;

/// The scripts, one per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// `acquire.lua`
    Acquire,
    /// `release.lua`
    Release,
    /// `renew.lua`
    Renew,
    /// `abandon.lua`
    Abandon,
    /// `yield.lua`
    Yield,
    /// `inspect.lua`
    Inspect,
}

impl Script {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Acquire,
        Self::Release,
        Self::Renew,
        Self::Abandon,
        Self::Yield,
        Self::Inspect,
    ];

    /// The script that carries out an operation.
    #[must_use]
    pub fn of(op: &Op) -> Self {
        match op {
            Op::Acquire { .. } => Self::Acquire,
            Op::Release { .. } => Self::Release,
            Op::Renew { .. } => Self::Renew,
            Op::Abandon { .. } => Self::Abandon,
            Op::Yield { .. } => Self::Yield,
            Op::Inspect => Self::Inspect,
        }
    }
}

/// Appends what follows the script in `EVAL` and `EVALSHA`: the key and the arguments.
///
/// `publish` says how waiters are woken: `S` by `SPUBLISH`, `P` by `PUBLISH` on a single server, `L` by `PUBLISH` in a
/// cluster, where nobody knows who hears, `R` by returning what is to be published, empty not at all. `valid_until` is the server's time in microseconds
/// until which an acquire may take effect; for operations that end one, the latest such time of its copies.
pub fn encode(cmd: &mut Cmd, key: &LockKey, op: &Op, publish: &str, valid_until: u64) {
    let publishing = Publishing(publish, key.prefix().len());
    cmd.write_arg(b"1");
    cmd.write_arg(key.as_str().as_bytes());
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
            cmd.write_arg_fmt(format_args!("={hold}"));
            // One argument less for the most frequent request.
            let brief = *mode == Mode::Write && owner.is_none();
            if brief {
                cmd.write_arg_fmt(kept);
            } else {
                let (mode, owner) = (letter(*mode), owner.as_deref().unwrap_or(""));
                cmd.write_arg_fmt(format_args!("{mode} {millis}000 {owner}"));
            }
            match place {
                // Who enters beside readers who wait may be the one who tells them.
                None => cmd.write_arg_fmt(format_args!("{valid_until:016} 0 0 - {publishing}")),
                Some(place) => {
                    let nonce = place.nonce;
                    let lease = micros(place.lease);
                    // Who publishes otherwise than this client listens must not wonder that it does not hear.
                    let ear = match publish {
                        "S" | "R" if place.subscribed => 1,
                        "P" if place.subscribed => 3,
                        _ => 0,
                    };
                    cmd.write_arg_fmt(format_args!(
                        "{valid_until:016} {lease} {ear} {nonce} {publishing}"
                    ));
                }
            }
            if !brief {
                cmd.write_arg_fmt(kept);
            }
        }
        Op::Release {
            hold,
            handed,
            lease,
            stray,
        } => {
            cmd.write_arg_fmt(hold);
            match forget_after(*lease) {
                Some(forget) => cmd.write_arg_fmt(millis(forget) + GRACE_MILLIS),
                None => cmd.write_arg(b""),
            }
            cmd.write_arg_fmt(handed.map_or(0, FencingToken::as_u64));
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Renew { hold, lease } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(micros(whole_millis(*lease)));
        }
        Op::Abandon { hold, stray } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Yield {
            hold,
            handed,
            lease,
            seen,
            stray,
        } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(handed.map_or(0, FencingToken::as_u64));
            cmd.write_arg_fmt(micros(whole_millis(*lease)));
            cmd.write_arg_fmt(seen);
            cmd.write_arg_fmt(buried_until(*stray));
            cmd.write_arg_fmt(&publishing);
        }
        Op::Inspect => cmd.write_arg_fmt(LISTED),
    }
}

fn letter(mode: Mode) -> char {
    match mode {
        Mode::Read => 'r',
        Mode::Write => 'w',
    }
}

/// A lease in whole milliseconds. (Durations' own 128-bit numbers take several times as long to write.)
fn millis(lease: Duration) -> u64 {
    u64::try_from(whole_millis(lease).as_millis()).unwrap_or(u64::MAX)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
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

/// Whether there is a command of Redis that does what an operation does to a lock's only hold if nobody waits and
/// there is nothing else to note.
pub(crate) fn has_plain(op: &Op) -> bool {
    match op {
        Op::Release {
            handed: None,
            lease,
            stray: Stray::None,
            ..
        } => forget_after(*lease).is_none(),
        _ => false,
    }
}

/// That command, for a release; it is a fraction of the work of a script. The answer 0 says that it has found nothing,
/// which is for the script to judge.
#[must_use]
pub fn encode_plain(key: &LockKey, op: &Op) -> Option<Cmd> {
    let Op::Release { hold, .. } = op else {
        return None;
    };
    if !has_plain(op) {
        return None;
    }
    let mut cmd = Cmd::with_capacity(3, key.as_str().len() + 64);
    cmd.write_arg(b"HDEL");
    cmd.write_arg(key.as_str().as_bytes());
    cmd.write_arg_fmt(format_args!("={hold}"));
    Some(cmd)
}

/// Whether the plain command has found nothing to do.
pub(crate) fn wants_script(value: &Value) -> bool {
    int(value) == Some(0)
}

/// Reads a script's answer; `None` if it is not one.
#[must_use]
pub fn decode(op: &Op, value: &Value) -> Option<Reply> {
    if let Some(number) = int(value) {
        return Some(match (op, number) {
            (Op::Inspect, _) => return None,
            (Op::Acquire { .. } | Op::Yield { .. }, token @ 1..) => {
                Reply::Granted(FencingToken::new(token))
            }
            (Op::Release { .. } | Op::Renew { .. } | Op::Abandon { .. }, 1) => Reply::Done,
            (_, 0) => Reply::Gone,
            _ => return None,
        });
    }
    let Value::Array(parts) = value else {
        return None;
    };
    if matches!(op, Op::Inspect) {
        return info(parts).map(Reply::Info);
    }
    let retry = parts.get(1).and_then(int).map(Duration::from_micros);
    Some(match (op, int(parts.first()?)?) {
        (Op::Acquire { .. }, 2) => Reply::Queued {
            retry: retry?,
            last: token(parts.get(2).and_then(int)?),
            now: parts.get(3).and_then(int)?,
        },
        (Op::Acquire { .. }, 0) => Reply::Busy(retry?),
        (Op::Acquire { .. }, 3) => Reply::WouldDeadlock,
        (Op::Acquire { .. }, 4) => Reply::Gone,
        (Op::Acquire { .. }, 5) => Reply::Again,
        (Op::Acquire { .. }, 6) => Reply::TooLate(parts.get(1).and_then(int)?),
        (Op::Yield { .. }, 2) | (Op::Release { .. } | Op::Abandon { .. }, 1) => Reply::Done,
        _ => return None,
    })
}

/// What an answer asks the client to publish: channels and messages.
pub(crate) fn notes(value: &Value) -> Vec<(String, String)> {
    let Value::Array(parts) = value else {
        return Vec::new();
    };
    let Some(Value::Array(notes)) = parts.get(1) else {
        return Vec::new();
    };
    notes
        .chunks_exact(2)
        .filter_map(|note| Some((text(&note[0])?, text(&note[1])?)))
        .collect()
}

fn info(parts: &[Value]) -> Option<LockInfo> {
    let [
        last,
        Value::Array(holds),
        Value::Array(waiters),
        more_holders,
        more_waiters,
    ] = parts
    else {
        return None;
    };
    let last = int(last)?;
    let mut holders = holds
        .chunks_exact(5)
        .map(|hold| {
            Some(HoldInfo {
                id: text(&hold[0])?,
                mode: mode(&hold[1])?,
                remaining: Duration::from_micros(int(&hold[2])?),
                token: FencingToken::new(int(&hold[3])?),
                owner: text(&hold[4]).filter(|owner| !owner.is_empty()),
            })
        })
        .collect::<Option<Vec<_>>>()?;
    holders.sort_by(|a, b| a.id.cmp(&b.id));
    Some(LockInfo {
        last_token: token(last),
        holders,
        waiters: waiters
            .chunks_exact(3)
            .map(|waiter| {
                Some(WaiterInfo {
                    id: text(&waiter[0])?,
                    mode: mode(&waiter[1])?,
                    remaining: Duration::from_micros(int(&waiter[2])?),
                })
            })
            .collect::<Option<_>>()?,
        more_holders: int(more_holders)?,
        more_waiters: int(more_waiters)?,
    })
}

fn token(number: u64) -> Option<FencingToken> {
    (number > 0).then(|| FencingToken::new(number))
}

/// A number, which a script may have left as text.
fn int(value: &Value) -> Option<u64> {
    match value {
        Value::Int(int) => u64::try_from(*int).ok(),
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).ok(),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}

fn mode(value: &Value) -> Option<Mode> {
    match text(value)?.as_str() {
        "r" => Some(Mode::Read),
        "w" => Some(Mode::Write),
        _ => None,
    }
}
