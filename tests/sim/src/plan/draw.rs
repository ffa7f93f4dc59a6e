//! Drawing a plan from a seed.

use super::fault::{Breaks, Fault, FaultClass, FaultPlan, Outcome, Theme, When};
use super::quorum::is_of_quorums;
use super::{LockKind, Plan, ProcessPlan, Profile, Setup, Shape, TaskPlan};
use crate::engine::{Cut, End, MS, Mend, Messages, Nanos, Random, SECOND};
use crate::weights;

impl Plan {
    /// The plan of a seed.
    pub(crate) fn draw(seed: u64, locks: LockKind, profile: Profile) -> Self {
        let setup = Setup::draw(&mut Random::of(seed, "setup", 0));
        let processes = processes(seed);
        let mut plan = Self {
            seed,
            setup,
            processes,
            faults: Vec::new(),
        };
        match locks {
            LockKind::Rw => {}
            LockKind::Mutex => plan.add_mutexes(),
            LockKind::Quorum => plan.set_apart(),
        }
        plan.faults = faults(&plan);
        plan.take_profile(profile);
        plan
    }

    /// In the order in which they begin.
    pub(super) fn sort_faults(&mut self) {
        self.faults.sort_by_key(|fault| match fault.when {
            When::After(acquires, _) => acquires,
            When::At(_) => 0,
        });
    }
}

fn processes(seed: u64) -> Vec<ProcessPlan> {
    let mut random = Random::of(seed, "processes", 0);
    let random = &mut random;
    let shapes = [Shape::draw(random), Shape::draw(random)];
    let lease = random.weighted(&weights::LEASES) * MS;
    let (from, to) = weights::HOW_MANY_ACQUIRES;
    let acquires = random.within(from, to);
    let mut processes = Vec::new();
    let mut number = 0;
    for process in 0..random.within(2, 6) {
        let shape = random.one(&shapes);
        let tasks = (0..shape.tasks(random))
            .map(|_| {
                number += 1;
                TaskPlan {
                    number,
                    shape,
                    ops: Vec::new(),
                    given: None,
                }
            })
            .collect();
        processes.push(ProcessPlan {
            number: usize::try_from(process).unwrap_or(0),
            // Mostly all have the same.
            lease: if random.chance(200) {
                random.weighted(&weights::LEASES) * MS
            } else {
                lease
            },
            response_timeout: random.weighted(&weights::RESPONSE_TIMEOUTS) * MS,
            retry_for: random.weighted(&weights::RETRY_FOR) * MS,
            max_hold: None,
            ppm: random.weighted(&weights::CLIENT_CLOCKS),
            min_holds: Random::of(seed, "min_hold", process).chance(weights::MIN_HOLDS),
            linger: None,
            fenced: false,
            foreign: None,
            tasks,
        });
    }
    let each = acquires / number + 1;
    for task in processes.iter_mut().flat_map(|process| &mut process.tasks) {
        task.ops = (0..each).collect();
    }
    processes
}

fn faults(plan: &Plan) -> Vec<FaultPlan> {
    let mut random = Random::of(plan.seed, "faults", 0);
    let theme = if plan.setup.members > 0 {
        random.weighted(&weights::THEMES_OF_QUORUMS)
    } else {
        random.weighted(&weights::THEMES)
    };
    let (from, to) = weights::HOW_MANY_FAULTS;
    let many = random.within(from, to);
    let acquires = plan.acquires();
    let mut faults: Vec<FaultPlan> = (0..many)
        .map(|number| {
            let mut random = Random::of(plan.seed, "fault", number);
            let random = &mut random;
            FaultPlan {
                number,
                when: When::After(random.below(acquires), random.scaled(1000, 20 * MS)),
                fault: fault(plan, theme, random),
            }
        })
        .collect();
    faults.sort_by_key(|fault| match fault.when {
        When::After(acquires, _) => acquires,
        When::At(_) => 0,
    });
    faults
}

fn class(plan: &Plan, theme: Theme, random: &mut Random) -> FaultClass {
    loop {
        let (_, any) = random.one(&weights::FAULTS);
        let of = weights::FAULTS.iter().find(|(of, _)| *of == theme);
        let table = match of {
            Some((_, table)) if random.chance(weights::OF_THE_THEME) => table,
            _ => any,
        };
        let class = random.weighted(table);
        let setup = &plan.setup;
        let fits = match class {
            _ if setup.members > 0 => is_of_quorums(class),
            FaultClass::Failover | FaultClass::HandOver | FaultClass::NoReplicas => {
                setup.replicas > 0
            }
            FaultClass::Migrate | FaultClass::CallOff => setup.masters > 1,
            FaultClass::CutBus => setup.masters > 0,
            _ => true,
        };
        if fits {
            return class;
        }
    }
}

/// How long something lasts: from a moment to some seconds.
fn a_while(random: &mut Random) -> Nanos {
    random.scaled(MS, 6 * SECOND)
}

fn fault(plan: &Plan, theme: Theme, random: &mut Random) -> Fault {
    let process = random.below(plan.processes.len());
    let node = random.below(64);
    let lasts = a_while(random);
    let restart = random.chance(800).then(|| random.scaled(MS, 2 * SECOND));
    match class(plan, theme, random) {
        FaultClass::Cut => Fault::Cut {
            process,
            node,
            cut: random.one(&[Cut::Requests, Cut::Answers, Cut::Both]),
            mend: random.one(&[Mend::Late, Mend::Reset]),
            lasts,
        },
        FaultClass::HoldBack => Fault::HoldBack {
            process,
            node,
            after: u32::try_from(random.within(0, 6)).unwrap_or(0),
            delay: random.scaled(MS, 8 * SECOND),
            breaks: if random.chance(500) {
                Breaks::Late
            } else {
                Breaks::Not
            },
        },
        FaultClass::Reset => Fault::Reset { process, node },
        FaultClass::HalfOpen => Fault::HalfOpen { process, node },
        FaultClass::Slow => Fault::Slow {
            process,
            node,
            slow: random.scaled(MS, SECOND),
            lasts,
        },
        FaultClass::Pause => Fault::Pause {
            process,
            suspend: false,
            lasts,
        },
        FaultClass::Suspend => Fault::Pause {
            process,
            suspend: true,
            lasts,
        },
        FaultClass::Crash => Fault::Crash {
            process,
            end: random.one(&[End::Killed, End::Killed, End::PowerLoss]),
            restart,
        },
        FaultClass::Shutdown => Fault::Shutdown {
            process,
            drain: random
                .chance(weights::DRAINS)
                .then(|| random.scaled(MS, 3 * SECOND)),
            restart,
        },
        FaultClass::Messages => Fault::Messages {
            process,
            messages: Messages {
                dropped: random.one(&[0, 300, 1000]),
                doubled: random.one(&[0, 300]),
                late: random.one(&[0, 300]),
            },
            lasts: lasts * 2,
        },
        class => server_fault(plan, class, random, lasts),
    }
}

fn server_fault(plan: &Plan, class: FaultClass, random: &mut Random, lasts: Nanos) -> Fault {
    let node = random.below(64);
    let lock = random.below(plan.setup.locks);
    match class {
        FaultClass::Forge => Fault::Forge {
            lock,
            times: u32::try_from(random.within(1, 60)).unwrap_or(1),
        },
        FaultClass::KillSubscribers => Fault::KillConnections {
            node,
            subscribers: true,
        },
        FaultClass::CutBus => Fault::CutBus {
            from: node,
            to: random.below(64),
            lasts,
        },
        FaultClass::Restart => Fault::Restart {
            node,
            with_data: random.chance(600),
            after: random.scaled(MS, 2 * SECOND),
        },
        FaultClass::SleepServer => Fault::Sleep {
            node,
            clients_first: random.chance(500),
            lasts,
        },
        FaultClass::Failover => Fault::Failover {
            node,
            dies: random.chance(400),
            takes: random.scaled(10 * MS, 3 * SECOND),
            wakes: random.scaled(MS, 3 * SECOND),
            clients_first: random.chance(600),
        },
        FaultClass::HandOver => Fault::HandOver { node },
        FaultClass::FailScript => Fault::FailScript {
            node,
            at_call: usize::try_from(random.scaled(1, 40)).unwrap_or(1),
            dies: random
                .chance(400)
                .then(|| (random.chance(500), random.chance(500))),
            after: random.scaled(MS, SECOND),
        },
        FaultClass::Full => Fault::Full { node, lasts },
        FaultClass::NoReplicas => Fault::NoReplicas { node, lasts },
        FaultClass::Loading => Fault::Loading {
            node,
            lasts: lasts / 2,
        },
        FaultClass::FlushAll => Fault::FlushAll { node },
        FaultClass::Evict => Fault::Evict { lock },
        FaultClass::ScriptFlush => Fault::ScriptFlush { node },
        FaultClass::ClockStep => {
            let size = i64::try_from(random.scaled(100, 30_000_000)).unwrap_or(0);
            Fault::ClockStep {
                node,
                micros: if random.chance(500) { size } else { -size },
            }
        }
        FaultClass::Migrate | FaultClass::CallOff => Fault::Migrate {
            lock,
            to: random.below(64),
            steps: [(); 4].map(|()| random.scaled(MS / 10, 500 * MS)),
            outcome: match (class, random.chance(500)) {
                (FaultClass::Migrate, told) => Outcome::Moves { told },
                (_, source_first) => Outcome::Stays { source_first },
            },
        },
        _ => Fault::KillConnections {
            node,
            subscribers: false,
        },
    }
}
