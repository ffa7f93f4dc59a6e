//! The servers, their clocks, the network and the locks of a seed.

use super::{Demands, Mutexes};
use crate::engine::{MS, Nanos, Pace, Random, Service};
use crate::server::Flavour;
use crate::weights;

/// What does not change.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) flavour: Flavour,
    /// How many, of a cluster; 0 is a server by itself.
    pub(crate) masters: usize,
    pub(crate) replicas: usize,
    pub(crate) full_coverage: bool,
    pub(crate) pace: Pace,
    /// How long changes and the cluster's bus take among servers, at most.
    pub(crate) changes: Nanos,
    pub(crate) bus: Nanos,
    /// How much too fast servers' clocks are, in millionths: all of them, as an operator keeps them together; and how far each
    /// is ahead, in us.
    pub(crate) server_ppm: i32,
    pub(crate) ahead: Vec<i64>,
    /// Whether any task that can run runs next, or the first one.
    pub(crate) drawn_order: bool,
    /// How many locks there are.
    pub(crate) locks: usize,
    pub(crate) mutexes: Mutexes,
    /// How many servers have each lock, of a quorum; 0 if there is none.
    pub(crate) members: usize,
    /// How much too fast each of their clocks runs, in millionths.
    pub(crate) drifts: Vec<i32>,
    /// How long servers take.
    pub(crate) service: Service,
    pub(crate) demands: Demands,
}

impl Setup {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let (masters, replicas) = random.weighted(&weights::FLEETS);
        let servers = masters.max(1) * (1 + replicas);
        let base = random.scaled(20_000, 2 * MS);
        Self {
            flavour: random.weighted(&weights::FLAVOURS),
            masters,
            replicas,
            full_coverage: random.chance(500),
            pace: Pace {
                base,
                jitter: random.scaled(10_000, 4 * base),
                lost: random.weighted(&[(3, 0), (1, 2), (1, 10)]),
                spike: 200 * MS,
            },
            changes: random.weighted(&[(2, MS), (1, 20 * MS), (1, 300 * MS)]),
            bus: random.weighted(&[(3, 2 * MS), (1, 100 * MS)]),
            server_ppm: random.weighted(&weights::SERVER_CLOCKS),
            ahead: (0..servers)
                .map(|_| random.one(&[0, 0, 0, -300, 500]))
                .collect(),
            drawn_order: random.chance(700),
            locks: random.weighted(&[(4, 1), (4, 2), (2, 4), (1, 12)]),
            mutexes: Mutexes::None,
            members: 0,
            drifts: Vec::new(),
            service: Service::default(),
            demands: Demands::default(),
        }
    }

    /// A lock's name. Some share a slot.
    pub(crate) fn lock(number: usize) -> String {
        match number % 3 {
            1 => format!("{{shared}}:{number}"),
            _ => format!("lock:{number}"),
        }
    }
}
