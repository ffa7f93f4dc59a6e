//! What takes long: leases of over a minute beside short ones, holds that have a time limit or an end, clocks that step by
//! more than a lease, servers that stand still for longer than a place in the line lasts, or pause writes to hand a slot over.

use super::storm::{forever, task};
use super::{Fault, FaultPlan, Plan, ProcessPlan, When};
use crate::engine::{End, MS, Nanos, Random, SECOND, Service};
use crate::plan::{Breaks, Op};
use crate::weights;

/// For how long a server keeps a place in the line whose waiter says nothing.
const PLACE: Nanos = 3 * SECOND;

impl Plan {
    pub(super) fn lengthen(&mut self, random: &mut Random) {
        let quorum = self.setup.members > 0;
        match random.below(if quorum { 1 } else { 5 }) {
            0 | 1 => self.mix_leases(random),
            2 => self.step_clocks(random),
            3 => self.move_at_once(random),
            _ => self.fall_silent(random),
        }
    }

    /// Short and long leases of one lock, time limits, ends; what a server loses, or hears late.
    fn mix_leases(&mut self, random: &mut Random) {
        let quorum = self.setup.members > 0;
        self.setup.locks = self.setup.locks.min(3);
        for process in &mut self.processes {
            for task in &mut process.tasks {
                task.ops.truncate(40);
            }
            if process.foreign.is_some() {
                continue;
            }
            process.lease = random.weighted(&weights::MIXED_LEASES) * MS;
            process.max_hold = random
                .chance(weights::MAX_HOLDS)
                .then(|| random.scaled(process.lease.min(SECOND) + MS, 4 * SECOND));
            process.min_holds = random.chance(400) && process.max_hold.is_none();
        }
        let acquires = self.acquires();
        let count = random.within(1, 5);
        self.faults.clear();
        for number in 0..count {
            let fault = match random.below(if quorum { 2 } else { 5 }) {
                0 | 1 => Fault::HoldBack {
                    process: random.below(self.processes.len()),
                    node: random.below(64),
                    after: u32::try_from(random.within(0, 6)).unwrap_or(0),
                    delay: random.scaled(10 * MS, 2 * SECOND),
                    breaks: random.one(&[Breaks::Not, Breaks::Late, Breaks::AtOnce]),
                },
                2 | 3 => Fault::Evict {
                    lock: random.below(self.setup.locks),
                },
                _ => Fault::FlushAll {
                    node: random.below(64),
                },
            };
            let when = When::After(random.below(acquires), random.scaled(1000, 200 * MS));
            self.faults.push(FaultPlan {
                number,
                when,
                fault,
            });
        }
        self.sort_faults();
    }

    /// Slots move in one step, or stay after all; also while a replica takes over.
    fn move_at_once(&mut self, random: &mut Random) {
        let setup = &mut self.setup;
        (setup.masters, setup.replicas) = random.one(&[(2, 0), (3, 0), (2, 1)]);
        setup.ahead = vec![0; setup.masters * (1 + setup.replicas)];
        setup.locks = setup.locks.min(4);
        let replicas = setup.replicas > 0;
        for task in self.processes.iter_mut().flat_map(|one| &mut one.tasks) {
            task.ops.truncate(60);
        }
        self.faults.clear();
        let acquires = self.acquires();
        for number in 0..random.within(3, 9) {
            let fault = if replicas && random.chance(200) {
                Fault::Failover {
                    node: random.below(64),
                    dies: random.chance(400),
                    takes: random.scaled(10 * MS, SECOND),
                    wakes: random.scaled(MS, SECOND),
                    clients_first: random.chance(600),
                }
            } else {
                let moves = random.chance(700);
                let most = if moves { SECOND } else { 10 * SECOND };
                Fault::MoveAtOnce {
                    lock: random.below(self.setup.locks),
                    to: random.below(64),
                    pause: random.scaled(MS / 10, most),
                    moves,
                }
            };
            let when = When::After(random.below(acquires), random.scaled(1000, 200 * MS));
            self.faults.push(FaultPlan {
                number,
                when,
                fault,
            });
        }
        self.sort_faults();
    }

    /// A server's clock steps under holds, some of which are never released.
    fn step_clocks(&mut self, random: &mut Random) {
        self.alone(random);
        let lease = random.one(&[1, 3, 4]) * SECOND;
        let ends = 40 * SECOND;
        self.setup.demands.ends = ends;
        self.setup.demands.frees_in_time = true;
        let processes = 3;
        let locks = self.setup.locks;
        let model = self.model(lease);
        for process in 0..processes {
            let mut one = model.clone();
            one.tasks = (0..locks)
                .map(|lock| {
                    let hold = random.scaled(100 * MS, 3 * lease);
                    let op = Op {
                        rest: random.scaled(MS, 100 * MS),
                        ..forever(lock, hold)
                    };
                    task(process * locks + lock, vec![op], 1000)
                })
                .collect();
            self.put(one);
        }
        self.faults.clear();
        let mut number = 0;
        let mut at = 3 * SECOND;
        while at < ends - 10 * SECOND {
            let size = i64::try_from(random.scaled(1_000_000, 60_000_000)).unwrap_or(0);
            self.fault(
                &mut number,
                at,
                Fault::ClockStep {
                    node: 0,
                    micros: if random.chance(200) { size } else { -size },
                },
            );
            if random.chance(700) {
                let process = random.below(processes);
                let fault = Fault::Crash {
                    process,
                    end: random.one(&[End::Killed, End::PowerLoss]),
                    restart: Some(random.scaled(MS, 2 * SECOND)),
                };
                self.fault(&mut number, at + random.within(0, SECOND), fault);
            }
            at += 2 * lease + random.within(5 * SECOND, 12 * SECOND);
        }
    }

    /// A server stands still for longer than places last, while a line waits.
    fn fall_silent(&mut self, random: &mut Random) {
        self.alone(random);
        self.setup.locks = 1;
        self.setup.demands.keeps_order = true;
        self.setup.service = Service {
            command: 5_000,
            script: random.scaled(20_000, 200_000),
        };
        let lease = random.one(&[10, 30]) * SECOND;
        let ends = 24 * SECOND;
        self.setup.demands.ends = ends;
        let model = self.model(lease);
        for number in 0..usize::try_from(random.within(6, 16)).unwrap_or(6) {
            let mut one = model.clone();
            let op = Op {
                rest: random.scaled(MS, 20 * MS),
                ..forever(0, random.scaled(100 * MS, 500 * MS))
            };
            one.tasks = vec![task(number, vec![op], 1000)];
            self.put(one);
        }
        self.faults.clear();
        let mut number = 0;
        let mut at = 4 * SECOND;
        while at < ends - 8 * SECOND {
            let lasts = random.within(PLACE + PLACE / 20, 2 * PLACE);
            self.fault(
                &mut number,
                at,
                Fault::Sleep {
                    node: 0,
                    clients_first: true,
                    lasts,
                },
            );
            at += lasts + random.within(3 * SECOND, 6 * SECOND);
        }
    }

    /// One server, whose network loses nothing.
    fn alone(&mut self, random: &mut Random) {
        let setup = &mut self.setup;
        (setup.masters, setup.replicas) = (0, 0);
        setup.ahead = vec![0];
        setup.pace.lost = 0;
        setup.server_ppm = 0;
        setup.locks = random.one(&[1, 1, 2, 3]);
    }

    fn model(&mut self, lease: Nanos) -> ProcessPlan {
        let model = ProcessPlan {
            lease,
            response_timeout: SECOND,
            retry_for: 10 * SECOND,
            min_holds: false,
            foreign: None,
            tasks: Vec::new(),
            ..self.processes[0].clone()
        };
        self.processes.clear();
        model
    }

    fn fault(&mut self, number: &mut u64, at: Nanos, fault: Fault) {
        self.faults.push(FaultPlan {
            number: *number,
            when: When::At(at),
            fault,
        });
        *number += 1;
    }
}
