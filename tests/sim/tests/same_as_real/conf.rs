//! How real servers are set up.

use std::fmt::Write as _;

use dlock_sim::server::Flavour;

/// Which servers there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// More than one are a cluster.
    pub(crate) masters: usize,
    /// So many for each master.
    pub(crate) replicas: usize,
}

impl Shape {
    pub(crate) const SINGLE: Self = Self {
        masters: 1,
        replicas: 0,
    };

    pub(crate) fn count(self) -> usize {
        self.masters * (1 + self.replicas)
    }

    pub(crate) fn in_cluster(self) -> bool {
        self.masters > 1
    }

    pub(crate) fn conf(self, flavour: Flavour, port: u16) -> String {
        let mut text = format!("bind 127.0.0.1\nport {port}\nsave \"\"\nappendonly no\n");
        if self.in_cluster() {
            text +=
                "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout 15000\n";
        }
        if self.replicas > 0 {
            text += "repl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n";
        }
        if flavour != Flavour::Redis62 {
            text += "enable-debug-command yes\n";
        }
        text
    }

    /// What each server knows of the others at the start.
    pub(crate) fn nodes(self, flavour: Flavour, first_port: u16, myself: usize) -> String {
        let masters = self.masters;
        let mut text = String::new();
        for number in 0..self.count() {
            let me = if number == myself { "myself," } else { "" };
            let port = usize::from(first_port) + number;
            let master = number % masters;
            // Servers that know of shards want to see them here.
            let shard = match flavour {
                Flavour::Redis62 | Flavour::Redis70 => String::new(),
                _ => format!(",,tls-port=0,shard-id={}", name(master)),
            };
            let (id, bus) = (name(number), port + 10000);
            write!(text, "{id} 127.0.0.1:{port}@{bus}{shard} {me}").expect(WRITES);
            if number < masters {
                let (first, end) = (16384 * number / masters, 16384 * (number + 1) / masters);
                let (epoch, last) = (number + 1, end - 1);
                writeln!(text, "master - 0 0 {epoch} connected {first}-{last}").expect(WRITES);
            } else {
                // A replica has no epoch of its own. Redis 6.2 believes one that is told here, and one that is the greatest
                // of all is not raised in a takeover: the old master would have the slots back.
                let of = name(master);
                writeln!(text, "slave {of} 0 0 0 connected").expect(WRITES);
            }
        }
        writeln!(text, "vars currentEpoch {masters} lastVoteEpoch 0").expect(WRITES);
        text
    }
}

const WRITES: &str = "a text takes everything";

/// The name of a server of a cluster, which is that of a simulated one.
pub(crate) fn name(number: usize) -> String {
    format!("{:040x}", number + 1)
}
