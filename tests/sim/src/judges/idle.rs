//! No client loses a lease without a fault that explains it, and no hold and no queue position stays on a server whose process
//! knows nothing of it.

use std::collections::BTreeMap;
use std::mem::take;

use super::Judges;
use super::home::{is_foreign, process_of};
use super::members::up;
use super::record::Record;
use crate::engine::{Engine, MS, Nanos, ProcId, SECOND};
use crate::plan::{Fault, Plan, Profile};
use crate::server::NodeId;

/// How long after a fault connections may take to be back, and what failed meanwhile to be undone.
const CALM: Nanos = 8 * SECOND;
/// How long a release or an undone acquire may be under way.
const UNDER_WAY: Nanos = SECOND;
/// How often servers are looked at.
const EVERY: Nanos = 200 * MS;

/// The holds and places at servers, used or not.
#[derive(Debug)]
pub(super) struct Idle {
    /// Since when which processes have more of them in which lock than they have tasks there.
    spare: BTreeMap<(usize, NodeId, ProcId), Spare>,
    /// Since when which of them are there.
    seen: BTreeMap<(usize, NodeId, String), Nanos>,
    looked: Nanos,
    /// When which processes have shut their clients down.
    shut_down: BTreeMap<ProcId, Nanos>,
    /// The longest lease, and whether the network loses anything.
    lease: Nanos,
    lossy: bool,
    /// How long after a fault it is calm.
    calm: Nanos,
    /// How much longer a place may stay in the line of a mutex, and anything at a server of a quorum, which is told in the
    /// background.
    more: Nanos,
    later: Nanos,
    /// How long after the end of a hold a late copy of its acquire may take a mutex for no client.
    strays: Nanos,
    /// How far servers' clocks are set: the end of a string is an absolute time to its replicas.
    apart: Nanos,
    /// How much longer a hold may last if a script may have failed at its very last call: the void field of an only hold is
    /// there then, a plain release takes it for the hold, and that ends with its lease.
    half_done: Nanos,
}

/// Holds and places that a process should not have.
#[derive(Debug)]
struct Spare {
    ids: Vec<String>,
    since: Nanos,
}

impl Spare {
    fn of(ids: &[&str], since: Nanos) -> Self {
        let ids = ids.iter().map(|&id| id.to_owned()).collect();
        Self { ids, since }
    }

    fn has_one_of(&self, ids: &[&str]) -> bool {
        self.ids.iter().any(|id| ids.contains(&id.as_str()))
    }
}

impl Idle {
    pub(super) fn new(plan: &Plan) -> Self {
        let leases = plan.processes.iter().map(|process| process.lease);
        let timeouts = plan
            .processes
            .iter()
            .map(|process| process.response_timeout);
        let timeout = timeouts.max().unwrap_or(0);
        let lease = leases.max().unwrap_or(0);
        let faults = || plan.faults.iter().map(|one| &one.fault);
        let steps = faults().map(|fault| match fault {
            Fault::ClockStep { micros, .. } => micros.unsigned_abs() * 1_000,
            _ => 0,
        });
        let fails = faults().any(|fault| matches!(fault, Fault::FailScript { .. }));
        Self {
            spare: BTreeMap::new(),
            seen: BTreeMap::new(),
            looked: 0,
            shut_down: BTreeMap::new(),
            lease,
            lossy: plan.setup.pace.lost > 0,
            more: super::patience::place_left(plan),
            later: if plan.setup.members > 0 {
                2 * (timeout + 2 * SECOND)
            } else {
                0
            },
            strays: 2 * (timeout + SECOND),
            apart: steps.sum(),
            half_done: if fails { lease } else { 0 },
            calm: if plan.faults.iter().all(|one| one.fault.breaks_nothing()) {
                0
            } else {
                CALM
            },
        }
    }
}

impl Idle {
    pub(super) fn is_lossy(&self) -> bool {
        self.lossy
    }
}

/// What a process has of a lock.
#[derive(Default)]
struct Had<'r> {
    all: Vec<&'r str>,
    /// How many of them for longer than anything is under way.
    long: usize,
}

/// The ids that count.
fn live<'r>(record: &'r Record<'_>) -> impl Iterator<Item = &'r str> {
    let holds = record.holds.iter().map(|(id, hold)| (*id, hold.until));
    let places = record.places().map(|(place, _)| (place.id, place.until));
    let live = holds.chain(places).filter(|(_, until)| *until > record.now);
    live.map(|(id, _)| id)
}

impl Judges {
    /// Whether nothing is wrong for which a lease could be lost.
    pub(super) fn must_be_kept(&self, now: Nanos) -> bool {
        let idle = self.idle.borrow();
        let calm = match self.demands.profile {
            Profile::Storm => self.demands.recovery,
            _ => CALM,
        };
        self.demands.keeps_leases || !idle.lossy && self.is_unharmed(now, idle.lease + calm)
    }

    /// How long after its last use a process may still have to say something about a mutex.
    pub(super) fn strays_for(&self) -> Nanos {
        self.idle.borrow().strays
    }

    /// A process has shut its client down, whatever that still had.
    pub(crate) fn is_shut_down(&self, of: ProcId, now: Nanos) {
        self.idle.borrow_mut().shut_down.insert(of, now);
    }

    /// Looks at the holds and places of all locks.
    pub(crate) fn look_at_idle(&self, engine: &Engine) {
        let now = engine.now();
        let mut idle = self.idle.borrow_mut();
        if idle.lossy && !self.is_quorum() || !self.is_unharmed(now, idle.calm) {
            idle.spare.clear();
            idle.seen.clear();
            return;
        }
        if now < idle.looked + EVERY {
            return;
        }
        idle.looked = now;
        let (seen, spare) = (take(&mut idle.seen), take(&mut idle.spare));
        let excuses = self.excuses.borrow();
        for (lock, home) in self.homes.iter().enumerate() {
            if excuses.may_be_back(lock, now) {
                continue;
            }
            let under_way = UNDER_WAY
                + idle.later
                + idle.half_done
                + if home.is_mutex() {
                    idle.more.max(idle.strays) + idle.apart
                } else {
                    0
                };
            let mut look = |node: NodeId, record: &Record<'_>| {
                let mut had: BTreeMap<ProcId, Had> = BTreeMap::new();
                for id in live(record) {
                    // What a process had before it died, slept or gave up its client ends by itself.
                    let at_work = |of: &ProcId| {
                        let shut_down = idle.shut_down.get(of).copied().unwrap_or(0);
                        engine.runs(*of)
                            && now >= engine.runs_since(*of).max(shut_down) + idle.lease
                    };
                    let Some(of) = process_of(id).filter(at_work).filter(|_| !is_foreign(id))
                    else {
                        continue;
                    };
                    let key = (lock, node, id.to_owned());
                    let since = seen.get(&key).copied().unwrap_or(now);
                    let had = had.entry(of).or_default();
                    had.all.push(id);
                    had.long += usize::from(now > since + under_way);
                    idle.seen.insert(key, since);
                }
                for (of, had) in had {
                    let users = self.users(lock, of);
                    if users > 0 && had.long <= users {
                        continue;
                    }
                    // Holds that came one after the other, each of which was released in time, may all be seen on their way.
                    let since = spare
                        .get(&(lock, node, of))
                        .filter(|spare| spare.has_one_of(&had.all));
                    let since = since.map_or(now, |spare| spare.since);
                    let lingers = self.lingering.borrow().linger(of);
                    let used = self.traffic.borrow().used_last(lock, of);
                    let kept = if lingers > 0 { used + lingers } else { 0 };
                    if now > since.max(kept) + under_way {
                        let story = format!(
                            "lock {lock} still has {:?}, but only {users} know of it",
                            had.all
                        );
                        self.object("leftovers", now, story);
                    }
                    idle.spare
                        .insert((lock, node, of), Spare::of(&had.all, since));
                }
            };
            if self.is_quorum() {
                for node in up(engine) {
                    home.look_at(engine, node, |record| {
                        if let Some(record) = &record {
                            look(node, record);
                        }
                    });
                }
            } else {
                home.look(engine, |found| {
                    if let Some((_, record)) = &found {
                        look(NodeId(0), record);
                    }
                });
            }
        }
    }
}
