//! Contenders that stay while a server of a quorum is away.

use super::storm::{WINDOW, forever, task};
use super::{Fault, FaultPlan, Mutexes, Plan, ProcessPlan, When};
use crate::engine::{MS, Nanos, Random, SECOND};
use crate::plan::Op;

/// When the server goes.
const FAULT: Nanos = 3 * SECOND;

/// How many grants of a thousand remain while one of the servers is away, or slow by [`SLOW`].
const AWAY: u32 = 800;
const SLOWED: u32 = 600;
const SLOW: Nanos = 200 * MS;

/// For how long a free lock may stay free.
const GAP: Nanos = 500 * MS;

impl Plan {
    pub(super) fn stay(&mut self, random: &mut Random) {
        let setup = &mut self.setup;
        setup.locks = 3;
        setup.mutexes = random.one(&[Mutexes::None, Mutexes::All]);
        setup.drifts.fill(0);
        setup.pace.lost = 0;
        let lease = random.one(&[2, 10, 30]) * SECOND;
        let model = ProcessPlan {
            lease,
            response_timeout: SECOND,
            retry_for: 10 * SECOND,
            min_holds: false,
            fenced: true,
            foreign: None,
            tasks: Vec::new(),
            ..self.processes[0].clone()
        };
        let lasts = random.within(2500 * MS, 4 * SECOND);
        let demands = &mut self.setup.demands;
        demands.gap = Some(GAP);
        demands.recovery = SECOND;
        demands.ends = FAULT + lasts + demands.recovery + WINDOW + SECOND;
        let ends = demands.ends;
        let hold = random.scaled(MS, 4 * MS);
        self.processes.clear();
        for number in 0..random.one(&[4, 6, 8]) {
            let mut one = model.clone();
            let op = Op {
                rest: random.scaled(MS / 10, 2 * MS),
                ..forever(0, hold)
            };
            one.tasks = vec![task(number, vec![op], 100_000)];
            self.put(one);
        }
        // One who holds for long, and one who waits for it.
        for number in 0..2 {
            let mut one = model.clone();
            one.tasks = vec![task(100 + number, vec![forever(1, ends / 2)], 2)];
            self.put(one);
        }
        let node = random.below(self.setup.members);
        let (fault, rate) = match random.below(4) {
            0 => (
                Fault::Restart {
                    node,
                    with_data: true,
                    after: lasts,
                },
                AWAY,
            ),
            1 => (
                Fault::Sleep {
                    node,
                    clients_first: true,
                    lasts,
                },
                AWAY,
            ),
            2 => (Fault::Loading { node, lasts }, AWAY),
            _ => (
                Fault::SlowServer {
                    node,
                    slow: SLOW,
                    lasts,
                },
                SLOWED,
            ),
        };
        self.setup.demands.grants = [800, rate];
        self.faults = vec![FaultPlan {
            number: 0,
            when: When::At(FAULT),
            fault,
        }];
    }
}
