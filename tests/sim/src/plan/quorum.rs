//! Quorums in a plan: servers that have nothing to do with one another, each with a clock of its own.

use super::{Fault, FaultClass, Plan};
use crate::engine::{MS, Nanos, Random};
use crate::weights;

/// An hour, in us.
const HOUR: i64 = 3_600_000_000;

impl Plan {
    /// Has each lock at most of several servers.
    pub(super) fn set_apart(&mut self) {
        let random = &mut Random::of(self.seed, "quorum", 0);
        let setup = &mut self.setup;
        (setup.masters, setup.replicas) = (0, 0);
        setup.members = random.weighted(&weights::MEMBERS);
        setup.mutexes = random.weighted(&weights::MUTEXES_OF_QUORUMS);
        // Two rounds have to fit into what a short lease leaves them.
        setup.pace.base = random.scaled(20_000, MS / 2);
        setup.pace.jitter = random.scaled(10_000, 4 * setup.pace.base);
        setup.server_ppm = 0;
        let drifts = random.chance(500);
        setup.drifts = (0..setup.members)
            .map(|_| {
                let drift = random.weighted(&weights::SERVER_CLOCKS_APART);
                if drifts { drift } else { 0 }
            })
            .collect();
        let apart = random.one(&[1_000, 1_000, 2_000_000]);
        setup.ahead = (0..setup.members)
            .map(|_| i64::try_from(random.below(apart)).unwrap_or(0))
            .collect();
        for _ in 0..random.weighted(&weights::FAR_AHEAD) {
            setup.ahead[random.below(setup.members)] += HOUR;
        }
        let fenced = random.one(&[0, 500, 1000]);
        for process in &mut self.processes {
            process.fenced = random.chance(fenced);
            process.do_one_in(6);
        }
    }

    /// The longest lease there is.
    pub(crate) fn longest_lease(&self) -> Nanos {
        let leases = self.processes.iter().map(|process| process.lease);
        leases.max().unwrap_or(0)
    }

    /// Whether servers refuse what is asked of them.
    pub(crate) fn has_refusals(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.any(|one| {
            matches!(
                one.fault,
                Fault::Full { .. } | Fault::FailScript { .. } | Fault::Loading { .. }
            )
        })
    }
}

/// What a majority of servers has no trouble with, as long as it is not at most of them.
pub(super) fn is_of_quorums(class: FaultClass) -> bool {
    match class {
        FaultClass::Cut
        | FaultClass::HoldBack
        | FaultClass::Reset
        | FaultClass::HalfOpen
        | FaultClass::Slow
        | FaultClass::Pause
        | FaultClass::Suspend
        | FaultClass::Crash
        | FaultClass::Shutdown
        | FaultClass::KillClients
        | FaultClass::Restart
        | FaultClass::SleepServer
        | FaultClass::FailScript
        | FaultClass::Full
        | FaultClass::Loading
        | FaultClass::ScriptFlush => true,
        FaultClass::Messages
        | FaultClass::Forge
        | FaultClass::KillSubscribers
        | FaultClass::CutBus
        | FaultClass::Failover
        | FaultClass::HandOver
        | FaultClass::NoReplicas
        | FaultClass::FlushAll
        | FaultClass::Evict
        | FaultClass::ClockStep
        | FaultClass::Migrate
        | FaultClass::CallOff => false,
    }
}
