//! Processes that keep read/write locks for their next tasks, under the load and the faults of any seed.

use super::storm::{forever, task};
use super::{Fault, FaultPlan, Op, Plan, When};
use crate::engine::{MS, Random};
use crate::weights;

/// More uses in no time than there are tokens between two of the server's.
const BURST: usize = 2500;
/// How many such bursts a task has.
const BURSTS: u64 = 8;
/// By how many milliseconds a clock is set back, one after the other: more at once would excuse tokens that repeat.
const STEPS: u64 = 100;

impl Plan {
    pub(super) fn let_linger(&mut self) {
        let (from, to) = weights::LINGERS;
        for process in &mut self.processes {
            let random = &mut Random::of(self.seed, "linger", process.number as u64);
            let lingers = !random.chance(weights::WITHOUT_LINGER);
            process.linger = lingers.then(|| random.scaled(from, to));
        }
        let random = &mut Random::of(self.seed, "bursts", 0);
        if random.chance(weights::BURSTS) {
            self.add_bursts(random);
        }
    }

    /// A process uses a lock of its own again and again in no time, while a server's clock is set back for a while.
    fn add_bursts(&mut self, random: &mut Random) {
        let tasks = self.processes.iter().flat_map(|process| &process.tasks);
        let last = tasks.map(|task| task.number).max().unwrap_or(0);
        let rest = |op: Op, rest| Op { rest, ..op };
        // There are tokens for this burst because a millisecond has passed since the server named one.
        let mut ops = vec![forever(3, 0); BURST];
        ops[0] = rest(forever(3, 0), random.within(20 * MS, 60 * MS));
        ops[1] = rest(forever(3, 0), MS);
        let process = &mut self.processes[0];
        process.linger = Some(random.within(5 * MS, 15 * MS));
        let times = BURSTS * ops.len() as u64;
        process
            .tasks
            .push(task(usize::try_from(last).unwrap_or(0), ops, times));
        for turn in 0..random.within(3, 8) {
            let (node, begun) = (random.below(64), random.within(20 * MS, 800 * MS));
            for step in 0..STEPS {
                self.faults.push(FaultPlan {
                    number: 1000 * (turn + 1) + step,
                    when: When::At(begun + step * MS / 2),
                    fault: Fault::ClockStep {
                        node,
                        micros: -1000,
                    },
                });
            }
        }
        self.sort_faults();
    }
}
