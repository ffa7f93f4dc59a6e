//! The commands with their properties.

use super::{
    Call, cluster, connection, expiry, hash, keys, options, pubsub, scan, scripting, server, text,
};
use crate::server::config::Flavour;
use crate::server::node::Node;
use crate::server::resp::Reply;

/// Where a command's keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Keys {
    None,
    First,
    /// All arguments.
    All,
    /// As many as the second argument says, behind it.
    Counted,
    /// The first is a sharded channel.
    Channel,
    /// All are sharded channels.
    Channels,
}

/// Changes data.
const W: u8 = 1;
/// Is refused when memory is full.
const M: u8 = 2;
/// Not from scripts.
const N: u8 = 4;
/// Also while loading.
const L: u8 = 8;

/// A command's properties.
#[derive(Debug)]
pub(in super::super) struct Spec {
    pub(in super::super) name: &'static str,
    /// How many words it has; at least so many if negative.
    pub(in super::super) arity: i8,
    flags: u8,
    pub(in super::super) keys: Keys,
    /// Whether Redis 6.2 has it.
    old: bool,
    pub(in super::super) run: fn(&mut Node, &Call<'_>) -> Reply,
}

impl Spec {
    pub(in super::super) fn writes(&self) -> bool {
        self.flags & W != 0
    }
    pub(in super::super) fn wants_memory(&self) -> bool {
        self.flags & M != 0
    }
    pub(in super::super) fn is_for_scripts(&self) -> bool {
        self.flags & N == 0
    }
    pub(in super::super) fn runs_while_loading(&self, flavour: Flavour, args: &[&[u8]]) -> bool {
        match (self.name, flavour) {
            ("echo" | "readonly" | "readwrite", _) => flavour != Flavour::Redis62,
            ("cluster", Flavour::Redis80) => is_one_of(args, &["slots"]),
            ("cluster", Flavour::Valkey81) => is_one_of(args, &["slots", "info", "myid"]),
            _ => self.flags & L != 0,
        }
    }
    /// Whether the slot's owner serves it until the slot has moved. Redis 8 takes those who leave a channel for those
    /// who want a key.
    pub(in super::super) fn is_about_channels(&self, flavour: Flavour) -> bool {
        let as_key = flavour == Flavour::Redis80 && self.name == "sunsubscribe";
        matches!(self.keys, Keys::Channel | Keys::Channels) && !as_key
    }
    /// Whether a subcommand is named that is not simulated.
    pub(in super::super) fn lacks(&self, args: &[&[u8]]) -> bool {
        let known: &[&str] = match self.name {
            "script" => &["load", "exists", "flush"],
            "client" => &["setname", "getname", "id", "setinfo"],
            "cluster" => &["slots", "info", "myid", "keyslot", "countkeysinslot"],
            "pubsub" => &["channels", "numsub", "shardchannels", "shardnumsub"],
            _ => return false,
        };
        !is_one_of(args, known)
    }
    pub(in super::super) fn fits(&self, words: usize, flavour: Flavour) -> bool {
        // Conditions for expiries came with Redis 7.
        let exact = flavour == Flavour::Redis62 && self.name.contains("expire");
        let least = usize::from(self.arity.unsigned_abs());
        words == least || words > least && self.arity < 0 && !exact
    }
}

/// Whether the subcommand is one of these.
fn is_one_of(args: &[&[u8]], names: &[&str]) -> bool {
    let name = args.get(1).copied().unwrap_or_default();
    let mut names = names.iter();
    names.any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
}

type Run = fn(&mut Node, &Call<'_>) -> Reply;

const fn spec(name: &'static str, arity: i8, flags: u8, keys: Keys, run: Run) -> Spec {
    Spec {
        name,
        arity,
        flags,
        keys,
        old: true,
        run,
    }
}

const fn new(name: &'static str, arity: i8, flags: u8, keys: Keys, run: Run) -> Spec {
    Spec {
        name,
        arity,
        flags,
        keys,
        old: false,
        run,
    }
}

/// The most frequent ones first.
static COMMANDS: [Spec; 60] = [
    spec("evalsha", -3, N, Keys::Counted, scripting::evalsha),
    spec("hmget", -3, 0, Keys::First, hash::hmget),
    spec("hset", -4, W | M, Keys::First, hash::hset),
    spec("hget", 3, 0, Keys::First, hash::hget),
    spec("hdel", -3, W, Keys::First, hash::hdel),
    spec("hlen", 2, 0, Keys::First, hash::hlen),
    spec("time", 1, L, Keys::None, server::time),
    spec("pexpire", -3, W, Keys::First, expiry::pexpire),
    spec("pexpireat", -3, W, Keys::First, expiry::pexpireat),
    new("spublish", 3, L, Keys::Channel, pubsub::spublish),
    spec("publish", 3, L, Keys::None, pubsub::publish),
    spec("hgetall", 2, 0, Keys::First, hash::hgetall),
    spec("pttl", 2, 0, Keys::First, expiry::pttl),
    spec("ping", -1, 0, Keys::None, connection::ping),
    spec("asking", 1, 0, Keys::None, connection::asking),
    spec("eval", -3, N, Keys::Counted, scripting::eval),
    spec("script", -2, N, Keys::None, scripting::script),
    spec("hello", -1, N | L, Keys::None, connection::hello),
    spec("auth", -2, N | L, Keys::None, connection::auth),
    spec("client", -2, N | L, Keys::None, connection::client),
    spec("select", 2, L, Keys::None, connection::select),
    spec("echo", 2, 0, Keys::None, connection::echo),
    spec("quit", -1, N | L, Keys::None, connection::quit),
    spec("readonly", 1, 0, Keys::None, connection::readonly),
    spec("readwrite", 1, 0, Keys::None, connection::readwrite),
    spec("cluster", -2, 0, Keys::None, cluster::cluster),
    spec("info", -1, L, Keys::None, server::info),
    spec("role", 1, N | L, Keys::None, server::role),
    spec("dbsize", 1, 0, Keys::None, keys::dbsize),
    spec("flushall", -1, W, Keys::None, keys::flushall),
    spec("scan", -2, 0, Keys::None, scan::scan),
    spec("subscribe", -2, N | L, Keys::None, pubsub::subscribe),
    spec("unsubscribe", -1, N | L, Keys::None, pubsub::unsubscribe),
    new("ssubscribe", -2, N | L, Keys::Channels, pubsub::ssubscribe),
    new(
        "sunsubscribe",
        -1,
        N | L,
        Keys::Channels,
        pubsub::sunsubscribe,
    ),
    spec("pubsub", -2, L, Keys::None, pubsub::pubsub),
    spec("get", 2, 0, Keys::First, text::get),
    spec("set", -3, W | M, Keys::First, options::set),
    spec("getex", -2, W, Keys::First, options::getex),
    spec("append", 3, W | M, Keys::First, text::append),
    spec("strlen", 2, 0, Keys::First, text::strlen),
    spec("incr", 2, W | M, Keys::First, text::incr),
    spec("incrby", 3, W | M, Keys::First, text::incrby),
    spec("del", -2, W, Keys::All, keys::del),
    spec("unlink", -2, W, Keys::All, keys::del),
    spec("exists", -2, 0, Keys::All, keys::exists),
    spec("type", 2, 0, Keys::First, keys::kind),
    spec("ttl", 2, 0, Keys::First, expiry::ttl),
    spec("expire", -3, W, Keys::First, expiry::expire),
    spec("expireat", -3, W, Keys::First, expiry::expireat),
    spec("persist", 2, W, Keys::First, expiry::persist),
    spec("hexists", 3, 0, Keys::First, hash::hexists),
    spec("hsetnx", 4, W | M, Keys::First, hash::hsetnx),
    spec("hmset", -4, W | M, Keys::First, hash::hset),
    spec("hincrby", 4, W | M, Keys::First, hash::hincrby),
    spec("hkeys", 2, 0, Keys::First, hash::hkeys),
    spec("hvals", 2, 0, Keys::First, hash::hvals),
    spec("hstrlen", 3, 0, Keys::First, hash::hstrlen),
    new("pexpiretime", 2, 0, Keys::First, expiry::pexpiretime),
    spec("mget", -2, 0, Keys::All, text::mget),
];

/// The command of that name.
pub(in super::super) fn find(name: &[u8], flavour: Flavour) -> Option<&'static Spec> {
    COMMANDS
        .iter()
        .find(|spec| spec.name.as_bytes().eq_ignore_ascii_case(name))
        .filter(|spec| spec.old || flavour != Flavour::Redis62)
}
