//! What Redis loses by its nature: a grant from before such a loss may be given away again, and that is the fault's doing.

use super::home::{key_of, process_of, text_of};
use crate::engine::{Engine, Nanos, ProcId};
use crate::plan::{Mutexes, Plan, Setup};
use crate::server::{Fleet, NodeId, Role};

/// Which locks a loss touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One.
    Lock(usize),
    /// The locks that a server had then.
    Node(NodeId),
}

/// Something that loses holds or tokens.
#[derive(Debug, Clone)]
pub(crate) struct Excuse {
    pub(crate) what: &'static str,
    pub(crate) scope: Scope,
    pub(crate) at: Nanos,
    /// A master that was deposed then, and grants in vain until it knows.
    pub(crate) deposed: Option<NodeId>,
    /// Whether tokens may repeat, too.
    pub(crate) tokens: bool,
    /// How far a clock was set back: what a lock remembers that was free for a lease is forgotten.
    pub(crate) set_back: Nanos,
}

/// A grant that a task believed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub(super) lock: usize,
    /// Whose it is, and when it was asked for, at the latest.
    pub(super) of: ProcId,
    pub(super) asked: Nanos,
}

#[derive(Debug, Default)]
pub(super) struct Excuses {
    all: Vec<Known>,
    /// Servers that have died in a script and kept half of its work.
    cut_short: Vec<NodeId>,
    /// Whether a clock has been set back.
    set_back: bool,
    /// The longest there is, and the shortest.
    lease: Nanos,
    shortest: Nanos,
    mutexes: Mutexes,
    pub(super) used: u64,
}

#[derive(Debug, Clone)]
struct Known {
    excuse: Excuse,
    /// The slots it touches.
    slots: Vec<u16>,
    /// Since when nothing is granted in vain any more.
    until: Option<Nanos>,
    /// The processes that held such a lock then, by their own belief or by the record (the reply may be on its way), and may pass
    /// it on among their tasks until they know.
    holders: Vec<(usize, ProcId)>,
    /// How long that takes at most.
    lease: Nanos,
}

/// How long a reply may be on its way that left before the loss.
const FLIGHT: Nanos = 1_000_000;

impl Known {
    fn covers(&self, lock: usize) -> bool {
        match self.excuse.scope {
            Scope::Lock(only) => only == lock,
            Scope::Node(_) => self.slots.contains(&slot_of(lock)),
        }
    }

    /// Whether a claim is one of those that were lost.
    fn lost(&self, claim: Claim, now: Nanos) -> bool {
        let held = self.holders.contains(&(claim.lock, claim.of));
        let until = self.until.unwrap_or(now) + FLIGHT + if held { self.lease } else { 0 };
        self.covers(claim.lock) && claim.asked <= until
    }
}

/// The slot of a lock.
pub(crate) fn slot_of(lock: usize) -> u16 {
    let name = Setup::lock(lock);
    let tag = name
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .map_or(name.as_str(), |(tag, _)| tag);
    crc16::State::<crc16::XMODEM>::calculate(tag.as_bytes()) % 16_384
}

/// Whether a server has a lock, or would: while its slot moves two do.
fn has(fleet: &Fleet, mutexes: Mutexes, node: NodeId, lock: usize) -> bool {
    let keys = [Some(key_of(mutexes, lock)), text_of(mutexes, lock)];
    let mut keys = keys.into_iter().flatten();
    fleet.owner(slot_of(lock)) == node
        || fleet.role(node) == Role::Master
            && keys.any(|key| fleet.expires_at(node, key.as_bytes()).is_some())
}

impl Excuses {
    pub(super) fn add(
        &mut self,
        engine: &Engine,
        mut excuse: Excuse,
        locks: usize,
        holders: Vec<(usize, ProcId)>,
    ) {
        // A server that remembers nothing goes by a clock that may have shown later times before.
        excuse.tokens |= self.set_back;
        let slots = match excuse.scope {
            Scope::Lock(_) => Vec::new(),
            Scope::Node(node) => (0..locks)
                .filter(|lock| engine.fleet(|fleet| has(fleet, self.mutexes, node, *lock)))
                .map(slot_of)
                .collect(),
        };
        let until = excuse.deposed.is_none().then_some(excuse.at);
        self.all.push(Known {
            excuse,
            slots,
            until,
            holders,
            lease: self.lease,
        });
    }

    pub(super) fn of(plan: &Plan) -> Self {
        let leases = plan.processes.iter().map(|process| process.lease);
        Self {
            lease: leases.clone().max().unwrap_or(0),
            shortest: leases.min().unwrap_or(0),
            mutexes: plan.setup.mutexes,
            ..Self::default()
        }
    }

    pub(super) fn is_set_back(&self) -> bool {
        self.set_back
    }

    pub(super) fn is_cut_short(&self, node: NodeId) -> bool {
        self.cut_short.contains(&node)
    }

    /// Notices masters that know by now that they are none.
    pub(super) fn look(&mut self, engine: &Engine) {
        for known in &mut self.all {
            if let (None, Some(node)) = (known.until, known.excuse.deposed) {
                let knows = engine.fleet(|fleet| {
                    !fleet.is_alive(node)
                        || !fleet.is_asleep(node) && fleet.role(node) != Role::Master
                });
                if knows {
                    known.until = Some(engine.now());
                }
            }
        }
    }

    /// Why two may believe in the same, if a fault lost the claim of one.
    pub(super) fn excuse(&mut self, engine: &Engine, claims: [Claim; 2]) -> Option<&'static str> {
        self.look(engine);
        let now = engine.now();
        let mut all = self.all.iter();
        let found = all.find(|known| claims.into_iter().any(|claim| known.lost(claim, now)))?;
        Some(found.excuse.what)
    }

    /// Whether a claim was lost.
    pub(super) fn is_lost(&self, engine: &Engine, claim: Claim) -> bool {
        let now = engine.now();
        self.all.iter().any(|known| known.lost(claim, now))
    }

    /// Whether a loss may have brought back what was released before.
    pub(super) fn may_be_back(&self, lock: usize, now: Nanos) -> bool {
        let recent = |known: &Known| {
            known
                .until
                .is_none_or(|until| now < until + 2 * known.lease)
        };
        let mut all = self.all.iter();
        all.any(|known| known.covers(lock) && recent(known))
    }

    /// Whether a claim is from before a server's clock showed what it had shown before it was set back that far.
    fn shown_before(&self, known: &Known, claim: Claim) -> bool {
        let (at, far) = (known.excuse.at, known.excuse.set_back);
        far > self.shortest && known.covers(claim.lock) && claim.asked <= at + far
    }

    /// Why a token may have been given twice.
    pub(super) fn token_excuse(&self, engine: &Engine, claim: Claim) -> Option<&'static str> {
        let now = engine.now();
        let mut all = self.all.iter();
        let found = all.find(|known| {
            known.excuse.tokens && known.lost(claim, now) || self.shown_before(known, claim)
        })?;
        Some(found.excuse.what)
    }
}

impl super::Judges {
    /// A fault has lost something.
    pub(crate) fn excuse(&self, engine: &Engine, excuse: Excuse, locks: usize) {
        let mut holders = self.holders();
        for (lock, home) in self.homes.iter().enumerate() {
            home.look(engine, |found| {
                let holds = found.map(|(_, record)| record.holds).unwrap_or_default();
                let of = holds.into_iter().filter_map(|(id, _)| process_of(id));
                holders.extend(of.map(|of| (lock, of)));
            });
        }
        (self.excuses.borrow_mut()).add(engine, excuse, locks, holders);
    }

    /// A clock is set back.
    pub(crate) fn set_back(&self) {
        self.excuses.borrow_mut().set_back = true;
    }

    /// A server dies in the middle of a script and keeps what it has done by then.
    pub(crate) fn cut_short(&self, node: NodeId) {
        self.excuses.borrow_mut().cut_short.push(node);
    }

    /// After each step.
    pub(super) fn notice_deposed(&self, engine: &Engine) {
        self.excuses.borrow_mut().look(engine);
    }
}
