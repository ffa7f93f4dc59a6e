//! The replicas of a real cluster, and waiting until all nodes know them.

use std::time::{Duration, Instant};

use dlock_sim::server::Flavour;

use crate::conf::name;
use crate::real::{Real, RealConn};
use crate::value::Value;

/// For each shard its master and the other.
#[derive(Debug)]
pub(crate) struct Roles(Vec<(usize, usize)>);

impl Roles {
    pub(crate) fn at_start(masters: usize) -> Self {
        Self(
            (0..masters)
                .map(|master| (master, master + masters))
                .collect(),
        )
    }

    pub(crate) fn master(&self, shard: usize) -> usize {
        self.0[shard].0
    }

    /// Exchanges the roles of two: old and new master.
    pub(crate) fn exchange(&mut self, shard: usize) -> (usize, usize) {
        let (old, new) = self.0[shard];
        self.0[shard] = (new, old);
        (old, new)
    }

    /// The replica takes over that is the shard's master here, and all know of it before this ends.
    pub(crate) fn take_over(&self, real: &Real, admins: &mut [RealConn], shard: usize) {
        let (new, old) = self.0[shard];
        admins[new].must(&[b"CLUSTER", b"FAILOVER", b"TAKEOVER"]);
        wait_until("the old master follows", || {
            links_up(&mut admins[old]) && has_replica(&mut admins[new])
        });
        // A node that it greets hears of its role now, and not with one of the next heartbeats.
        for other in (0..admins.len()).filter(|other| *other != old) {
            let port = real.port(other).to_string();
            admins[old].must(&[b"CLUSTER", b"MEET", b"127.0.0.1", port.as_bytes()]);
        }
        let has_links = real.flavour != Flavour::Redis62;
        wait_until("all know the roles", || {
            admins
                .iter_mut()
                .all(|admin| self.are_known(admin) && (!has_links || self.are_linked(admin)))
        });
    }

    /// Whether the server has its links to all others, and they to it: a new one takes the place of the one before,
    /// and what is under way on that is lost.
    fn are_linked(&self, admin: &mut RealConn) -> bool {
        match admin.must(&[b"CLUSTER", b"LINKS"]) {
            Value::Many(_, links) => links.len() == 2 * (2 * self.0.len() - 1),
            other => panic!("{other:?} are no links"),
        }
    }

    /// All servers list all replicas, which they do once they have heard that those have data.
    pub(crate) fn wait_listed(&self, admins: &mut [RealConn]) {
        wait_until("all replicas are listed", || {
            admins.iter_mut().all(|admin| {
                let Value::Many(_, ranges) = admin.must(&[b"CLUSTER", b"SLOTS"]) else {
                    return false;
                };
                let is_whole =
                    |range: &Value| matches!(range, Value::Many(_, parts) if parts.len() == 4);
                ranges.len() == self.0.len() && ranges.iter().all(is_whole)
            })
        });
    }

    fn are_known(&self, admin: &mut RealConn) -> bool {
        let nodes = admin.told(&[b"CLUSTER", b"NODES"]);
        let line = |node: usize| -> Vec<&str> {
            let line = nodes.lines().find(|line| line.starts_with(&name(node)));
            line.expect("the server is known").split(' ').collect()
        };
        let count = self.0.len() * 2;
        nodes.lines().count() == count
            && self.0.iter().all(|(master, replica)| {
                let (master, replica, of) = (line(*master), line(*replica), name(*master));
                master[2].contains("master")
                    && master.len() > 8
                    && replica[2].contains("slave")
                    && replica[3] == of
            })
    }
}

/// All replicas have what their masters have, and what was published to sharded channels has arrived at all servers: who
/// subscribes now does not hear it.
pub(crate) fn settle(roles: &Roles, admins: &mut [RealConn]) {
    for (master, replica) in &roles.0 {
        let offset = number(&mut admins[*master], "master_repl_offset");
        wait_until("the replica has everything", || {
            number(&mut admins[*replica], "slave_repl_offset") >= offset
        });
    }
    wait_until("what was published has arrived", || {
        let (mut sent, mut received) = (0, 0);
        for admin in &mut *admins {
            let info = admin.told(&[b"CLUSTER", b"INFO"]);
            sent += count(&info, "cluster_stats_messages_publishshard_sent");
            received += count(&info, "cluster_stats_messages_publishshard_received");
        }
        sent == received
    });
}

fn links_up(admin: &mut RealConn) -> bool {
    told(admin, "master_link_status").as_deref() == Some("up")
}

fn has_replica(admin: &mut RealConn) -> bool {
    told(admin, "slave0").is_some_and(|line| line.contains("state=online"))
}

fn number(admin: &mut RealConn, field: &str) -> u64 {
    count(&admin.told(&[b"INFO", b"replication"]), field)
}

/// A field of `INFO replication`.
fn told(admin: &mut RealConn, field: &str) -> Option<String> {
    let info = admin.told(&[b"INFO", b"replication"]);
    value(&info, field).map(str::to_owned)
}

/// A number among the fields of a text, or nothing where it is not told.
fn count(info: &str, field: &str) -> u64 {
    value(info, field)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

fn value<'i>(info: &'i str, field: &str) -> Option<&'i str> {
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    fields.find_map(|(name, value)| (name == field).then_some(value))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "in time: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}
