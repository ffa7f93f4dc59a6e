//! Storms: hundreds of waiters, on one lock or on a lock each, all at once; then something that hits them all at once. Servers
//! take so long for a script that at rest they are busy for a part of the time, and saturated when every waiter polls.

use super::{Fault, FaultPlan, Mutexes, Plan, ProcessPlan, Shape, TaskPlan, When};
use crate::engine::{MS, Nanos, Pace, Random, SECOND, Service};
use crate::plan::{Ending, Op, Patience};
use crate::weights;

/// How often a waiter at rest makes sure of its place, in a thousand seconds.
const AT_REST: u64 = 3_333;

/// When something happens to all of them: they have come to rest.
const FAULT: Nanos = 5 * SECOND;

/// For how long a server stands still, or is away, at most.
const LONGEST: Nanos = 3 * SECOND;

/// However few wait, a script does not take longer.
const LONGEST_SCRIPT: Nanos = 3 * MS;

/// How many acquires of a client are under way at first.
const AT_ONCE: usize = 32;

/// For how long servers are looked at when all is well.
pub(crate) const WINDOW: Nanos = SECOND;

impl Plan {
    pub(super) fn storm(&mut self, random: &mut Random) {
        let setup = &mut self.setup;
        (setup.masters, setup.replicas) = random.weighted(&[(3, (0, 0)), (1, (2, 0))]);
        setup.ahead = vec![0; setup.masters.max(1)];
        setup.pace = Pace {
            lost: 0,
            base: random.scaled(20_000, MS / 2),
            jitter: random.scaled(10_000, MS / 2),
            ..setup.pace
        };
        if setup.mutexes != Mutexes::None {
            setup.mutexes = Mutexes::All;
        }
        let lease = random.one(&[300, 600, 1000, 3000]) * MS;
        let model = ProcessPlan {
            lease,
            response_timeout: random.one(&[100, 300, 1000]) * MS,
            retry_for: 10 * SECOND,
            min_holds: false,
            foreign: None,
            tasks: Vec::new(),
            ..self.processes[0].clone()
        };
        self.processes.clear();
        self.storm_faults(random, lease);
        let waiters = if random.chance(600) {
            self.parked(random, &model)
        } else {
            self.queued(random, &model)
        };
        // Scripts in a thousand seconds, at each server.
        let renewals = self.setup.locks as u64 * 3_000 * SECOND / lease;
        let scripts = (waiters as u64 * AT_REST + renewals) / self.setup.masters.max(1) as u64;
        let at_rest = random.one(&weights::BUSY_AT_REST);
        let asking = waiters.min(self.processes.len() * AT_ONCE);
        let at_once = (asking + self.setup.locks) / self.setup.masters.max(1);
        let script = (u64::from(at_rest) * SECOND / scripts.max(1))
            .min(longest_turn(&model) / at_once as u64)
            .min(LONGEST_SCRIPT);
        if self.setup.demands.grants[0] == 0 {
            let busy = u32::try_from(script * scripts / SECOND).unwrap_or(at_rest);
            self.setup.demands.at_rest = Some(busy);
        }
        self.setup.service = Service {
            script,
            command: script / 4,
        };
    }

    /// Many locks that one process holds until the end, and a waiter for each, in one process or in some.
    fn parked(&mut self, random: &mut Random, model: &ProcessPlan) -> usize {
        let processes = random.one(&[1, 1, 2, 8]);
        let many = usize::try_from(random.within(150, 300)).unwrap_or(150) / processes;
        self.setup.locks = many;
        let ends = self.setup.demands.ends;
        let mut held = model.clone();
        held.tasks = (0..many)
            .map(|lock| {
                let until = ends - random.within(0, SECOND / 2);
                task(lock, vec![forever(lock, until)], 1)
            })
            .collect();
        self.put(held);
        for process in 0..processes {
            let mut waiting = model.clone();
            waiting.tasks = (0..many)
                .map(|lock| {
                    let op = Op {
                        rest: 50 * MS + random.within(0, 50 * MS),
                        ..forever(lock, MS / 10)
                    };
                    task((process + 1) * many + lock, vec![op], 1)
                })
                .collect();
            self.put(waiting);
        }
        many * processes
    }

    /// One lock or a few for all, each in a process of its own or nearly.
    fn queued(&mut self, random: &mut Random, model: &ProcessPlan) -> usize {
        let processes = usize::try_from(random.scaled(20, 80)).unwrap_or(20);
        let locks = random.one(&[1, 1, 2, 4]);
        self.setup.locks = locks;
        let tasks = random.one(&[1, 2, 5]);
        let hold = random.scaled(MS / 2, 8 * MS);
        for process in 0..processes {
            let mut one = model.clone();
            one.tasks = (0..tasks)
                .map(|at| {
                    let op = Op {
                        rest: MS / 10,
                        ..forever((process + at) % locks, hold)
                    };
                    task(process * tasks + at, vec![op], 100_000)
                })
                .collect();
            self.put(one);
        }
        self.setup.demands.grants[0] = 800;
        processes * tasks.min(locks)
    }

    pub(super) fn put(&mut self, mut process: ProcessPlan) {
        process.number = self.processes.len();
        self.processes.push(process);
    }

    fn storm_faults(&mut self, random: &mut Random, lease: Nanos) {
        let nodes = self.setup.masters.max(1);
        let mut silence = random.scaled(100 * MS, LONGEST);
        let fault = match random.below(5) {
            0 | 1 => Fault::KillConnections {
                node: random.below(nodes),
                subscribers: true,
            },
            2 => Fault::KillConnections {
                node: random.below(nodes),
                subscribers: false,
            },
            3 => Fault::Restart {
                node: random.below(nodes),
                with_data: true,
                after: silence,
            },
            _ => Fault::Sleep {
                node: random.below(nodes),
                clients_first: true,
                lasts: silence,
            },
        };
        if matches!(fault, Fault::KillConnections { .. }) {
            silence = 0;
        }
        let demands = &mut self.setup.demands;
        // A renewal may have been due just then, and connections have to be made anew. A master of several that was started
        // again refuses for some time more.
        let refuses = self.setup.masters > 1 && matches!(fault, Fault::Restart { .. });
        demands.keeps_leases = silence < lease / 6 && !refuses;
        demands.ends = FAULT + silence + demands.recovery + WINDOW + SECOND;
        self.faults = vec![FaultPlan {
            number: 0,
            when: When::At(FAULT),
            fault,
        }];
    }
}

/// How long a turn of a server may take in which all clients ask for the first time, which they cannot avoid. A renewal is sent
/// after a third of the lease, and waits at worst for the turn under way and for its own: by then five sixths of the lease are
/// over, and the answer has to be there before the response timeout.
fn longest_turn(process: &ProcessPlan) -> Nanos {
    (process.lease / 4).min(process.response_timeout / 2)
}

/// A task that does the same again and again, so often.
pub(super) fn task(number: usize, given: Vec<Op>, times: u64) -> TaskPlan {
    TaskPlan {
        number: number as u64 + 1,
        shape: Shape::ManyWriters,
        ops: (0..times).collect(),
        given: Some(given),
    }
}

/// To write, however long that takes.
pub(super) fn forever(lock: usize, hold: Nanos) -> Op {
    Op {
        locks: vec![lock],
        write: true,
        patience: Patience::Forever,
        owner: None,
        cancel: None,
        hold,
        min_hold: None,
        until_lost: hold > SECOND,
        inner: None,
        ending: Ending::Release,
        rest: 0,
    }
}
