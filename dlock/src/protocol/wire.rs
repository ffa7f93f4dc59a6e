//! How operations are written for Redis, and their answers read. Nothing else knows.

use std::io::Write as _;
use std::time::Duration;

use redis::{Cmd, RedisWrite, Value};

use super::{HoldInfo, LockInfo, Op, Reply, WaiterInfo, forget_after, whole_millis};
use crate::key::LockKey;
use crate::mode::Mode;
use crate::token::FencingToken;

/// How long a key outlives the latest deadline in it, rounded up.
const GRACE_MILLIS: u128 = 1001;

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

/// Appends what follows the script in `EVAL` and `EVALSHA`: the keys and the arguments.
///
/// `publish` is the command that wakes waiters (`SPUBLISH`, `PUBLISH`, or empty for none).
pub fn encode(cmd: &mut Cmd, key: &LockKey, op: &Op, publish: &str) {
    // A renewal is no business of the line. With one key it works all through a slot migration.
    write(cmd, key, op, publish, !matches!(op, Op::Renew { .. }));
}

/// The same with the lock's own key only, for acquire and release: shorter, and it works while the slot migrates, when
/// a server that has some of the keys of a request and lacks others refuses it. [`wants_line`] tells
/// whether the script could not do without the other keys.
pub(crate) fn encode_without_line(cmd: &mut Cmd, key: &LockKey, op: &Op, publish: &str) {
    write(cmd, key, op, publish, false);
}

/// The command of Redis that does what a release does to a lock's only hold if nobody waits and there is nothing
/// else to note; `None` for all other operations. It is a fraction of the work of a script. The answer 0 says that
/// it has found nothing, which is for the script to judge.
#[must_use]
pub fn encode_plain(key: &LockKey, op: &Op) -> Option<Cmd> {
    let Op::Release {
        hold,
        handed: None,
        lease,
    } = op
    else {
        return None;
    };
    if forget_after(*lease).is_some() {
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

/// Whether a script that got the lock's own key only answers that it needs the line's keys too;
/// then it has changed nothing.
pub(crate) fn wants_line(value: &Value) -> bool {
    matches!(value, Value::Array(parts) if parts.first().and_then(int) == Some(9))
}

fn write(cmd: &mut Cmd, key: &LockKey, op: &Op, publish: &str, with_line: bool) {
    let (prefix, tagged) = (key.prefix(), key.tagged());
    cmd.write_arg(if with_line { b"4" } else { b"1" });
    cmd.write_arg(key.as_str().as_bytes());
    if with_line {
        for part in ["~l:", "~w:", "~r:"] {
            write_joined(cmd, [prefix, part, tagged, ""]);
        }
    }
    match op {
        Op::Acquire {
            hold,
            mode,
            lease,
            owner,
            queue,
        } => {
            let millis = whole_millis(*lease).as_millis();
            let mode = match mode {
                Mode::Read => 'r',
                Mode::Write => 'w',
            };
            let owner = owner.as_deref().unwrap_or("");
            cmd.write_arg_fmt(format_args!("={hold}"));
            cmd.write_arg_fmt(format_args!("{mode} {millis}000 {owner}"));
            cmd.write_arg_fmt(millis + GRACE_MILLIS);
            if with_line {
                cmd.write_arg_fmt(queue.map_or(0, |queue| queue.as_micros()));
            }
        }
        Op::Release {
            hold,
            handed,
            lease,
        } => {
            cmd.write_arg_fmt(hold);
            let forget = forget_after(*lease);
            if !with_line && handed.is_none() && forget.is_none() {
                return;
            }
            match forget {
                Some(forget) => cmd.write_arg_fmt(forget.as_millis() + GRACE_MILLIS),
                None => cmd.write_arg(b""),
            }
            cmd.write_arg_fmt(handed.map_or(0, FencingToken::as_u64));
            if with_line {
                write_channel(cmd, prefix, tagged, publish);
            }
        }
        Op::Renew { hold, lease } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(whole_millis(*lease).as_micros());
        }
        Op::Abandon { hold } => {
            cmd.write_arg_fmt(hold);
            write_channel(cmd, prefix, tagged, publish);
        }
        Op::Yield {
            hold,
            handed,
            lease,
        } => {
            cmd.write_arg_fmt(hold);
            cmd.write_arg_fmt(handed.map_or(0, FencingToken::as_u64));
            cmd.write_arg_fmt(whole_millis(*lease).as_micros());
            write_channel(cmd, prefix, tagged, publish);
        }
        Op::Inspect => {}
    }
}

/// Appends how waiters are told.
fn write_channel(cmd: &mut Cmd, prefix: &str, tagged: &str, publish: &str) {
    cmd.write_arg(publish.as_bytes());
    write_joined(cmd, [prefix, "~c:", tagged, ":"]);
}

/// Appends an argument made of pieces; formatting them would take several times as long.
fn write_joined(cmd: &mut Cmd, pieces: [&str; 4]) {
    let mut argument = cmd.writer_for_next_arg();
    for piece in pieces {
        // Writing to memory does not fail.
        let _ = argument.write_all(piece.as_bytes());
    }
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
        },
        (Op::Acquire { .. }, 0) => Reply::Busy(retry?),
        (Op::Acquire { .. }, 3) => Reply::WouldDeadlock,
        (Op::Yield { .. }, 2) => Reply::Done,
        _ => return None,
    })
}

fn info(parts: &[Value]) -> Option<LockInfo> {
    let [last, Value::Array(holds), Value::Array(waiters)] = parts else {
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
