//! Drawing a plan.

use std::time::Duration;

use dlock_load::{Ending, MS, Op, Patience, Random, SECOND, Shape};
use dlock_tests::Direction;

use super::{
    Draw, Fault, FaultClass, Kind, LockKind, Members, Mutexes, Plan, ProcessPlan, TaskPlan, Theme,
    Topology, Track, quorum,
};
use crate::weights;

impl Plan {
    /// The plan of a round.
    pub(crate) fn draw(draw: Draw) -> Self {
        let mut random = draw.random("setup", 0);
        let random = &mut random;
        let mut plan = Self {
            draw,
            full_coverage: random.chance(300),
            persistent: random.chance(600),
            lossy: random.chance(weights::LOSSY),
            theme: random.weighted(&weights::THEMES),
            locks: random.weighted(&weights::LOCKS),
            mutexes: Mutexes::None,
            processes: Vec::new(),
        };
        if draw.topology != Topology::Cluster && plan.theme == Theme::Slots {
            plan.theme = Theme::Servers;
        }
        // A majority keeps what a minority loses.
        plan.lossy &= draw.topology != Topology::Apart;
        plan.processes = processes(draw);
        plan.add_linger();
        plan.add_mutexes();
        plan
    }
}

impl Plan {
    /// Lets processes keep locks for their next task. Quorums send no messages, so no process could ask for such a lock.
    fn add_linger(&mut self) {
        let random = &mut self.draw.random("linger", 0);
        let can = self.draw.kind == Kind::Dlock && self.draw.lock == LockKind::Rw;
        if can && random.chance(weights::LINGERING_ROUNDS) {
            for process in &mut self.processes {
                if random.chance(weights::LINGERING_PROCESSES) {
                    process.linger = random.scaled(10, 2_000);
                }
            }
        }
    }
}

fn processes(draw: Draw) -> Vec<ProcessPlan> {
    let mut random = draw.random("processes", 0);
    let random = &mut random;
    let shapes = [(); 2].map(|()| Shape::draw(random));
    let lease = random.weighted(&weights::LEASES);
    let (from, to) = weights::HOW_MANY_PROCESSES;
    let mut number = 0;
    let process = |_| {
        let shape = random.one(&shapes);
        let task = |_| {
            number += 1;
            TaskPlan { number, shape }
        };
        let tasks = (0..shape.tasks(random)).map(task).collect();
        let response_timeout = random.weighted(&weights::RESPONSE_TIMEOUTS);
        ProcessPlan {
            system: draw.kind,
            mutexes_as: dlock::LockKind::Mutex,
            // Mostly all have the same.
            lease: if random.chance(200) {
                random.weighted(&weights::LEASES)
            } else {
                lease
            },
            linger: 0,
            response_timeout,
            // Clients refuse to give up before the first answer is late.
            retry_for: random.weighted(&weights::RETRY_FOR).max(response_timeout),
            tasks,
        }
    };
    let many = draw.random("processes", 1).within(from, to);
    (0..many).map(process).collect()
}

/// Makes an operation fit for real time, and for what the locks can do.
pub(super) fn temper(mut op: Op, plan: &Plan, of: &ProcessPlan, mut random: Random) -> Op {
    // Two in a hundred operations hold for about a lease.
    let may_be_long = random.within(0, 2 * of.lease / 100) < weights::LONG_HOLDS;
    if op.hold > 100 * MS && !may_be_long {
        op.hold /= 50;
    }
    plan.fit(&mut op, of.system);
    if of.system != Kind::Dlock {
        op.locks.truncate(1);
        op.write = true;
        op.owner = None;
        op.inner = None;
        // They leave to their callers what to do then, who keep others out for a whole lease if they do nothing.
        op.cancel = None;
        op.ending = Ending::Release;
        if op.patience == Patience::Forever {
            op.patience = Patience::For(5 * SECOND);
        }
    }
    op
}

/// What passes before the fault with this number of a track, and the fault.
pub(crate) fn fault(plan: &Plan, track: Track, number: u64) -> (Duration, Fault) {
    let name = match track {
        Track::Network => "network",
        Track::Processes => "deaths",
        Track::Servers => "servers",
    };
    let mut random = plan.draw.random(name, number);
    let random = &mut random;
    let of_the_theme = match plan.theme {
        Theme::Mixed => random.chance(500),
        Theme::Network => track == Track::Network,
        Theme::Processes => track == Track::Processes,
        Theme::Servers | Theme::Slots => track == Track::Servers,
    };
    let pause = if of_the_theme {
        random.within(20 * MS, 800 * MS)
    } else {
        random.within(SECOND, 8 * SECOND)
    };
    (Duration::from_nanos(pause), draw(plan, track, random))
}

fn class(plan: &Plan, track: Track, random: &mut Random) -> FaultClass {
    let apart = plan.draw.topology == Topology::Apart;
    loop {
        let class = match (track, plan.theme) {
            (Track::Network, _) if apart => random.weighted(&weights::NETWORK_APART),
            (Track::Network, _) => random.weighted(&weights::NETWORK),
            (Track::Processes, _) => random.weighted(&weights::PROCESSES),
            (Track::Servers, _) if apart => random.weighted(&weights::APART),
            (Track::Servers, Theme::Slots) => random.weighted(&weights::SLOTS),
            (Track::Servers, _) => random.weighted(&weights::SERVERS),
        };
        let fits = match class {
            FaultClass::Failover => plan.lossy && plan.draw.topology == Topology::Cluster,
            FaultClass::HandOver | FaultClass::Migrate | FaultClass::CallOff => {
                plan.draw.topology == Topology::Cluster
            }
            FaultClass::FlushAll | FaultClass::Evict => plan.lossy,
            FaultClass::Restart => plan.lossy || plan.persistent,
            FaultClass::Forge => plan.draw.kind == Kind::Dlock,
            _ => true,
        };
        if fits {
            return class;
        }
    }
}

/// From a moment to some seconds.
pub(super) fn a_while(random: &mut Random, to: u64) -> Duration {
    Duration::from_nanos(random.scaled(MS, to))
}

fn draw(plan: &Plan, track: Track, random: &mut Random) -> Fault {
    let process = random.below(plan.processes.len());
    let node = random.below(60);
    let times = random.below(3) + 1;
    let lasts = a_while(random, 6 * SECOND);
    match class(plan, track, random) {
        FaultClass::Cut => Fault::Cut {
            process,
            node,
            direction: random.one(&[Direction::ToServer, Direction::ToClient, Direction::Both]),
            resets: random.chance(500),
            lasts,
        },
        FaultClass::HoldBack => Fault::HoldBack {
            process,
            node,
            times,
            delay: lasts,
        },
        FaultClass::CutAfter => Fault::CutAfter {
            process,
            node,
            times,
        },
        FaultClass::Reset => Fault::Reset { process, node },
        FaultClass::HalfOpen => Fault::HalfOpen { process, node },
        FaultClass::Slow => Fault::Slow {
            process,
            node,
            slow: a_while(random, SECOND),
            lasts,
        },
        FaultClass::Messages => Fault::Messages { process, lasts },
        FaultClass::Forge => Fault::Forge {
            lock: random.below(plan.locks),
            times: u32::try_from(random.within(1, 60)).unwrap_or(1),
        },
        FaultClass::Partition => Fault::Partition {
            process,
            from: Members::any(random),
            resets: random.chance(500),
            lasts,
        },
        FaultClass::Pause => Fault::Pause { process, lasts },
        FaultClass::Crash => Fault::Crash {
            process,
            restart: a_while(random, SECOND),
        },
        FaultClass::Shutdown => Fault::Shutdown {
            process,
            restart: a_while(random, SECOND),
        },
        class => server_fault(plan, class, random, lasts),
    }
}

fn server_fault(plan: &Plan, class: FaultClass, random: &mut Random, lasts: Duration) -> Fault {
    let node = random.below(60);
    let lock = random.below(plan.locks);
    // A cluster's master that is away for longer is replaced.
    let cluster = plan.draw.topology == Topology::Cluster;
    let short = |random: &mut Random, lossy: u64| {
        let most = if cluster && !plan.lossy {
            400 * MS
        } else {
            lossy
        };
        a_while(random, most)
    };
    match class {
        FaultClass::Restart => Fault::Restart {
            node,
            with_data: plan.persistent && !(plan.lossy && random.chance(400)),
            after: short(random, 2 * SECOND),
        },
        FaultClass::SleepServer => Fault::Sleep {
            node,
            lasts: short(random, 3 * SECOND),
        },
        FaultClass::Minority => {
            let who = Members::few(random);
            let (fall, lasts) = quorum::few_fall(plan, random, lasts);
            Fault::Down { who, fall, lasts }
        }
        FaultClass::Majority => {
            let (who, fall, lasts) = quorum::many_fall(plan, random);
            Fault::Down { who, fall, lasts }
        }
        FaultClass::Failover => Fault::Failover {
            node,
            dies: random.chance(500),
            wakes: a_while(random, 3 * SECOND),
        },
        FaultClass::HandOver => Fault::HandOver { node },
        FaultClass::Full => Fault::Full { node, lasts },
        FaultClass::NoReplicas => Fault::NoReplicas { node, lasts },
        FaultClass::FlushAll => Fault::FlushAll { node },
        FaultClass::Evict => Fault::Evict { lock },
        FaultClass::ScriptFlush => Fault::ScriptFlush { node },
        FaultClass::Migrate | FaultClass::CallOff => Fault::Migrate {
            lock,
            to: random.below(60),
            steps: [(); 3].map(|()| a_while(random, 500 * MS)),
            call_off: class == FaultClass::CallOff,
        },
        class => Fault::KillConnections {
            node,
            subscribers: class == FaultClass::KillSubscribers,
        },
    }
}
