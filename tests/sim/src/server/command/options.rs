//! `SET` and `GETEX`, with their options.

use super::number::integer;
use super::text::text;
use super::{Call, NOT_A_NUMBER, SYNTAX};
use crate::server::config::Flavour;
use crate::server::data::{Entry, Value};
use crate::server::node::{Due, Node};
use crate::server::resp::Reply;

/// What follows the key and the value.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the options of the commands"
)]
struct Options<'c> {
    /// Only if the key is not there (`NX`), or only if it is (`XX`).
    unless: bool,
    only_if: bool,
    /// Whether the old text is answered (`GET`).
    get: bool,
    /// Whether the expiry stays (`KEEPTTL`), or goes (`PERSIST`).
    keep: bool,
    persist: bool,
    life: Option<Life<'c>>,
}

/// An expiry: the option, in small letters, and its number.
#[derive(Debug, Clone, Copy)]
struct Life<'c> {
    option: &'static str,
    number: &'c [u8],
}

impl<'c> Options<'c> {
    fn read(flavour: Flavour, words: &[&'c [u8]], sets: bool) -> Result<Self, Reply> {
        let mut read = Self::default();
        let mut words = words.iter();
        // Redis 6.2 does not answer the old text where it sets none.
        let old = flavour == Flavour::Redis62;
        while let Some(word) = words.next() {
            let word = word.to_ascii_lowercase();
            let free = read.life.is_none() && !read.persist;
            match &*word {
                b"nx" if sets && !read.only_if && !(old && read.get) => read.unless = true,
                b"xx" if sets && !read.unless => read.only_if = true,
                b"get" if sets && !(old && read.unless) => read.get = true,
                b"keepttl" if sets && free => read.keep = true,
                b"persist" if !sets && read.life.is_none() => read.persist = true,
                word => {
                    let option = Life::option(word).filter(|option| {
                        let other = read.life.is_some_and(|life| life.option != *option);
                        !other && !read.keep && !read.persist
                    });
                    let (Some(option), Some(number)) = (option, words.next()) else {
                        return Err(Reply::error(SYNTAX));
                    };
                    read.life = Some(Life { option, number });
                }
            }
        }
        Ok(read)
    }
}

impl Life<'_> {
    fn option(word: &[u8]) -> Option<&'static str> {
        let mut all = ["ex", "px", "exat", "pxat"].into_iter();
        all.find(|option| option.as_bytes() == word)
    }

    /// When that is.
    fn due(self, node: &Node, call: &Call<'_>) -> Result<Due, Reply> {
        let Some(number) = integer(self.number) else {
            return Err(Reply::error(NOT_A_NUMBER));
        };
        let unit = if self.option.starts_with('e') {
            1000
        } else {
            1
        };
        let from_now = !self.option.ends_with("at");
        let now = i64::try_from(node.millis()).unwrap_or(i64::MAX);
        let span = number.checked_mul(unit).filter(|span| *span > 0);
        let at = span.and_then(|span| span.checked_add(if from_now { now } else { 0 }));
        match (at, span) {
            (Some(at), Some(span)) => Ok(Due {
                at: u64::try_from(at).unwrap_or(0),
                span: from_now.then_some(u64::try_from(span).unwrap_or(0)),
            }),
            _ => Err(Reply::error(invalid_expiry(node.flavour, call.spec.name))),
        }
    }
}

/// `SET key value [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]`.
pub(super) fn set(node: &mut Node, call: &Call<'_>) -> Reply {
    match try_set(node, call) {
        Ok(reply) | Err(reply) => reply,
    }
}

fn try_set(node: &mut Node, call: &Call<'_>) -> Result<Reply, Reply> {
    let (key, value) = (call.args[1], call.args[2]);
    let options = Options::read(node.flavour, &call.args[3..], true)?;
    let due = options.life.map(|life| life.due(node, call)).transpose()?;
    let before = node.look_up(key).map(|entry| entry.expires);
    let wanted = !(options.unless && before.is_some() || options.only_if && before.is_none());
    if !wanted && node.flavour == Flavour::Redis62 {
        return Ok(Reply::Null);
    }
    let old = if options.get {
        Some(text(node, key)?.map_or(Reply::Null, Reply::Bulk))
    } else {
        None
    };
    if !wanted {
        return Ok(old.unwrap_or(Reply::Null));
    }
    let expires = before.flatten().filter(|_| options.keep);
    let value = Value::Text(value.to_vec());
    node.put(key, Entry { value, expires });
    if let Some(due) = due {
        node.expire_at(key, Some(due));
    }
    Ok(old.unwrap_or_else(Reply::ok))
}

/// `GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST]`.
pub(super) fn getex(node: &mut Node, call: &Call<'_>) -> Reply {
    match try_getex(node, call) {
        Ok(reply) | Err(reply) => reply,
    }
}

fn try_getex(node: &mut Node, call: &Call<'_>) -> Result<Reply, Reply> {
    let key = call.args[1];
    let options = Options::read(node.flavour, &call.args[2..], false)?;
    let Some(text) = text(node, key)? else {
        return Ok(Reply::Null);
    };
    match options.life.map(|life| life.due(node, call)).transpose()? {
        Some(due) if due.at <= node.millis() => {
            node.drop_key(key);
        }
        Some(due) => node.expire_at(key, Some(due)),
        None if options.persist => node.expire_at(key, None),
        None => {}
    }
    Ok(Reply::Bulk(text))
}

pub(super) fn invalid_expiry(flavour: Flavour, name: &str) -> String {
    match flavour {
        Flavour::Redis62 => format!("ERR invalid expire time in {name}"),
        _ => format!("ERR invalid expire time in '{name}' command"),
    }
}
