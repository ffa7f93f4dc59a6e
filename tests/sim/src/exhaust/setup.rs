//! What all cases have in common: one lock, a network that takes 0.1 ms in each direction, and the shortest leases there are.

use crate::engine::{MS, Nanos, Pace, Service};
use crate::plan::{
    Demands, Ending, Fault, FaultPlan, Mutexes, Op, Patience, Plan, ProcessPlan, Setup, Shape,
    TaskPlan, When,
};
use crate::server::Flavour;

/// Three tasks.
pub(super) type Tasks = [Vec<Op>; 3];

/// Each task in a process of its own, or the first two in one.
pub(super) fn plan(tasks: &Tasks, apart: bool, fault: Option<(Nanos, Fault)>) -> Plan {
    let homes: &[&[usize]] = if apart {
        &[&[0], &[1], &[2]]
    } else {
        &[&[0, 1], &[2]]
    };
    let task = |number: usize| TaskPlan {
        number: number as u64,
        shape: Shape::Even,
        ops: (0..tasks[number].len() as u64).collect(),
        given: Some(tasks[number].clone()),
    };
    let process = |(number, home): (usize, &&[usize])| ProcessPlan {
        number,
        lease: 200 * MS,
        response_timeout: 100 * MS,
        retry_for: 1000 * MS,
        max_hold: None,
        ppm: 0,
        min_holds: false,
        fenced: false,
        linger: None,
        foreign: None,
        tasks: home.iter().map(|number| task(*number)).collect(),
    };
    let slots = matches!(fault, Some((_, Fault::Migrate { .. })));
    Plan {
        seed: 1,
        setup: setup(slots),
        processes: homes.iter().enumerate().map(process).collect(),
        faults: (fault.into_iter())
            .map(|(at, fault)| FaultPlan {
                number: 0,
                when: When::At(at),
                fault,
            })
            .collect(),
    }
}

fn setup(slots: bool) -> Setup {
    let masters = if slots { 2 } else { 0 };
    Setup {
        flavour: if slots {
            Flavour::Redis62
        } else {
            Flavour::Redis70
        },
        masters,
        replicas: 0,
        full_coverage: false,
        pace: Pace {
            base: MS / 10,
            jitter: 0,
            lost: 0,
            spike: 0,
        },
        changes: MS / 10,
        bus: MS / 10,
        server_ppm: 0,
        // Two that both serve a lock may name the same microsecond: so rarely that it is not among the cases.
        ahead: [0, 7][..masters.max(1)].to_vec(),
        drawn_order: false,
        locks: 1,
        mutexes: Mutexes::None,
        members: 0,
        drifts: Vec::new(),
        service: Service::default(),
        demands: Demands::default(),
    }
}

/// To write or to read the lock, for so long.
pub(super) fn op(write: bool, hold: Nanos) -> Op {
    Op {
        locks: vec![0],
        write,
        patience: Patience::Forever,
        owner: None,
        cancel: None,
        hold,
        min_hold: None,
        until_lost: false,
        inner: None,
        ending: Ending::Release,
        rest: 0,
    }
}
