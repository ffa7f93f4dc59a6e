//! The simulated servers: which server, and how it is set up.

use std::time::Duration;

/// The servers whose rules are known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavour {
    /// Redis 6.2.14
    Redis62,
    /// Redis 7.0.15
    Redis70,
    /// Redis 8.0.2
    Redis80,
    /// Valkey 8.1.1
    Valkey81,
}

impl Flavour {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Redis62, Self::Redis70, Self::Redis80, Self::Valkey81];

    /// The version that `HELLO` and `INFO` tell.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Redis62 => "6.2.14",
            Self::Redis70 => "7.0.15",
            Self::Redis80 => "8.0.2",
            Self::Valkey81 => "8.1.1",
        }
    }

    /// Whether there are sharded channels.
    #[must_use]
    pub fn has_sharded_channels(self) -> bool {
        self != Self::Redis62
    }
}

/// How the servers of a fleet are set up.
#[derive(Debug, Clone)]
pub struct FleetConfig {
    /// The host of all servers.
    pub host: String,
    /// The port of the first server; the others have the next ones.
    pub first_port: u16,
    /// What all servers' clocks show at virtual time 0: microseconds since 1970.
    pub wall_micros: u64,
    /// After what silence a server takes another for dead (`cluster-node-timeout`).
    pub node_timeout: Duration,
    /// Whether a server of a cluster refuses everything while some slot has no server.
    pub full_coverage: bool,
}

impl Default for FleetConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            first_port: 7000,
            wall_micros: 1_760_000_000_000_000,
            node_timeout: Duration::from_secs(1),
            full_coverage: true,
        }
    }
}
