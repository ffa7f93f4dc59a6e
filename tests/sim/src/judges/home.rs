//! Where locks are: their keys, and who looks at what stands there.

use memchr::memmem::{self, Finder};

use super::excuses::slot_of;
use super::record::{Holding, Record};
use crate::engine::{Engine, ProcId};
use crate::plan::{Mutexes, Setup};
use crate::server::{Fleet, NodeId, Role};

/// Where the record of a lock is.
#[derive(Debug)]
pub(super) struct Home {
    /// Of the hash.
    key: Vec<u8>,
    /// Of a mutex' text.
    text: Option<Vec<u8>>,
    slot: u16,
    /// Finds the key, or the text's, in a request, as a word by itself.
    word: Finder<'static>,
}

/// The key of a lock's hash.
pub(crate) fn key_of(mutexes: Mutexes, lock: usize) -> String {
    let name = Setup::lock(lock);
    match (mutexes.has(lock), name.starts_with('{')) {
        (true, true) => format!("dlock~m::{name}"),
        (true, false) => format!("dlock~m:{{{name}}}"),
        (false, true) => format!("dlock:{name}"),
        (false, false) => format!("dlock:{{{name}}}"),
    }
}

/// The key of the text that is a mutex' hold.
pub(crate) fn text_of(mutexes: Mutexes, lock: usize) -> Option<String> {
    mutexes.has(lock).then(|| Setup::lock(lock))
}

/// The process of a hold or a place: clients are named after theirs, and what others write begins with it.
pub(super) fn process_of(id: &str) -> Option<ProcId> {
    if is_foreign(id) {
        let number = id.get(..8)?;
        return usize::from_str_radix(number, 16).ok().map(ProcId);
    }
    let name = id.split('/').next()?.strip_prefix('p')?;
    name.parse().ok().map(ProcId)
}

/// Whether a hold is somebody's who has no dlock.
pub(super) fn is_foreign(id: &str) -> bool {
    !id.contains('/')
}

/// The holder in a text. Behind the id of a client of dlock's may stand that others wait.
fn unmarked(text: &str) -> &str {
    let bare = text.strip_suffix('+').filter(|bare| !is_foreign(bare));
    bare.unwrap_or(text)
}

impl Home {
    pub(super) fn of(mutexes: Mutexes, lock: usize) -> Self {
        let key = key_of(mutexes, lock).into_bytes();
        let text = text_of(mutexes, lock).map(String::into_bytes);
        let word = [b"\n", &**text.as_ref().unwrap_or(&key), b"\r"].concat();
        Self {
            word: Finder::new(&word).into_owned(),
            slot: slot_of(lock),
            key,
            text,
        }
    }

    /// Whether a request names the hash.
    pub(super) fn names_hash(&self, request: &[u8]) -> bool {
        memmem::find(request, &self.key).is_some()
    }

    pub(super) fn is_mutex(&self) -> bool {
        self.text.is_some()
    }

    /// The record at a server.
    pub(super) fn read<'f>(
        &self,
        fleet: &'f Fleet,
        node: NodeId,
        micros: u64,
    ) -> Option<Record<'f>> {
        let record = Record::read(fleet, node, &self.key, micros);
        let Some(text) = &self.text else {
            return record;
        };
        let Some((id, expires)) = live_text(fleet, node, text, micros) else {
            return record.map(|record| Record {
                is_mutex: true,
                ..record
            });
        };
        let mut record = record.unwrap_or(Record {
            now: micros,
            expires: true,
            ..Record::default()
        });
        record.is_mutex = true;
        record.expires &= expires.is_some();
        // It is there until the millisecond is over.
        let left = expires.map_or(u64::MAX / 2, |at| (at + 1) * 1000 - micros);
        let hold = Holding {
            write: true,
            until: record.now.saturating_add(left),
            owned: false,
            token: record.last,
            ended: record.is_ended(id),
        };
        record.holds.push((id, hold));
        Some(record)
    }

    /// The text of a mutex at a server, and when it expires.
    pub(super) fn text<'f>(
        &self,
        fleet: &'f Fleet,
        node: NodeId,
        micros: u64,
    ) -> Option<(&'f str, Option<u64>)> {
        live_text(fleet, node, self.text.as_ref()?, micros)
    }

    /// Whether the text says that others wait.
    pub(super) fn is_marked(&self, fleet: &Fleet, node: NodeId) -> bool {
        let text = self.text.as_ref().and_then(|key| fleet.text(node, key));
        text.is_some_and(|(text, _)| text.ends_with(b"+"))
    }

    /// The hold that a mutex was handed over to last, until it is released.
    pub(super) fn passed_on<'f>(&self, fleet: &'f Fleet, node: NodeId) -> Option<&'f str> {
        let noted = fleet.lock_field(node, &self.key, b"g")?;
        let (_until, id) = std::str::from_utf8(noted).ok()?.split_once(' ')?;
        Some(id)
    }

    /// Whether a server still knows since when a mutex has been passed on.
    pub(super) fn remembers(&self, fleet: &Fleet, node: NodeId, micros: u64) -> bool {
        let expires = fleet.expires_at(node, &self.key).flatten();
        expires.is_none_or(|at| at > micros / 1000) && self.field(fleet, node, b"p").is_some()
    }

    /// A field of the hash at a server.
    pub(super) fn field(&self, fleet: &Fleet, node: NodeId, field: &[u8]) -> Option<u64> {
        let value = fleet.lock_field(node, &self.key, field)?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }

    /// How often the key stands in a request.
    pub(super) fn count(&self, request: &[u8]) -> usize {
        self.word.find_iter(request).count()
    }

    /// Looks at the record where the slot's master has it, or another one to which it has moved by now; there is none if
    /// the lock is forgotten.
    pub(super) fn look<T>(
        &self,
        engine: &Engine,
        look: impl FnOnce(Option<(NodeId, Record<'_>)>) -> T,
    ) -> T {
        let now = engine.time();
        engine.fleet(|fleet| {
            let read = |node| {
                let micros = fleet.server_micros(now, node);
                self.read(fleet, node, micros).map(|record| (node, record))
            };
            let owner = fleet.owner(self.slot);
            look(read(owner).or_else(|| {
                let other = |node: &NodeId| {
                    *node != owner && fleet.is_alive(*node) && fleet.role(*node) == Role::Master
                };
                fleet.nodes().filter(other).find_map(read)
            }))
        })
    }

    /// Whether a server takes it for its own, and all of it is there: a token of a mutex stands beside it.
    pub(super) fn is_served(&self, engine: &Engine) -> bool {
        engine.fleet(|fleet| {
            fleet.is_served(self.slot) && !(self.is_mutex() && fleet.is_on_its_way(self.slot))
        })
    }

    /// Whether a client has it where its slot moves to, or from.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method by its name is of one lifetime only"
    )]
    pub(super) fn is_held_on_its_way(&self, engine: &Engine) -> bool {
        engine.fleet(|fleet| fleet.is_on_its_way(self.slot))
            && self.any(engine, |record| record.is_held())
    }

    /// Whether any master, dead or alive, has a record of which this is true: a slot that moves is served by two.
    pub(super) fn any(&self, engine: &Engine, is_true: impl Fn(&Record<'_>) -> bool) -> bool {
        let now = engine.time();
        engine.fleet(|fleet| {
            let masters = fleet
                .nodes()
                .filter(|node| fleet.role(*node) == Role::Master);
            let records = masters.filter_map(|node| {
                let micros = fleet.server_micros(now, node);
                self.read(fleet, node, micros)
            });
            { records }.any(|record| is_true(&record))
        })
    }
}

impl Home {
    /// The record at one server of a quorum.
    pub(super) fn look_at<T>(
        &self,
        engine: &Engine,
        node: NodeId,
        look: impl FnOnce(Option<Record<'_>>) -> T,
    ) -> T {
        let now = engine.time();
        engine.fleet(|fleet| look(self.read(fleet, node, fleet.server_micros(now, node))))
    }

    /// How many servers, dead or alive, have a record of which this is true.
    pub(super) fn count_those(
        &self,
        engine: &Engine,
        is_true: impl Fn(&Record<'_>) -> bool,
    ) -> usize {
        let nodes: Vec<NodeId> = engine.fleet(|fleet| fleet.nodes().collect());
        let has = |node: &NodeId| {
            self.look_at(engine, *node, |record| {
                record.is_some_and(|record| is_true(&record))
            })
        };
        nodes.iter().filter(|node| has(node)).count()
    }

    /// How many servers name a larger token next.
    pub(super) fn remember(&self, engine: &Engine, token: u64) -> usize {
        let now = engine.time();
        let later = |node: NodeId| {
            let micros = engine.fleet(|fleet| fleet.server_micros(now, node));
            self.look_at(engine, node, |record| {
                record.map_or(micros, |record| record.now.max(record.last)) >= token
            })
        };
        let nodes: Vec<NodeId> = engine.fleet(|fleet| fleet.nodes().collect());
        nodes.into_iter().filter(|node| later(*node)).count()
    }
}

fn live_text<'f>(
    fleet: &'f Fleet,
    node: NodeId,
    key: &[u8],
    micros: u64,
) -> Option<(&'f str, Option<u64>)> {
    let (text, expires) = fleet.text(node, key)?;
    let over = expires.is_some_and(|at| (at + 1) * 1000 <= micros);
    let text = std::str::from_utf8(text).unwrap_or_default();
    (!over).then_some((unmarked(text), expires))
}
