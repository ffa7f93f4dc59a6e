//! What simulated servers do among themselves and to each other.

use std::time::Duration;

use dlock_sim::server::{
    ConnId, FailKind, Flavour, Fleet, FleetConfig, LinkKind, NodeId, Output, Promotion, Role,
    WakeOrder,
};

const KEY: &str = "dlock:{a}";
const NOW: Duration = Duration::from_secs(1);

/// Three masters with a replica each, and a connection to each.
struct Cluster {
    fleet: Fleet,
    conns: Vec<ConnId>,
    master: NodeId,
    replica: NodeId,
}

impl Cluster {
    fn new(flavour: Flavour) -> Self {
        let mut fleet = Fleet::cluster(flavour, 3, 1, FleetConfig::default());
        let conns = fleet
            .nodes()
            .map(|node| fleet.accept(node).expect("it runs"))
            .collect();
        let master = fleet.owner(Fleet::slot_of(KEY.as_bytes()));
        Self {
            fleet,
            conns,
            master,
            replica: NodeId(master.0 + 3),
        }
    }

    /// What a server answers; what servers send each other meanwhile stays on its way.
    fn ask(&mut self, node: NodeId, words: &[&str]) -> String {
        let conn = self.conns[node.0];
        let request: Vec<String> = words
            .iter()
            .map(|word| format!("${}\r\n{word}\r\n", word.len()))
            .collect();
        let request = format!("*{}\r\n{}", words.len(), request.concat());
        self.fleet.feed(NOW, conn, request.as_bytes());
        self.heard(node)
    }

    fn heard(&mut self, node: NodeId) -> String {
        let conn = self.conns[node.0];
        let mut all = Vec::new();
        for (to, output) in self.fleet.take_output() {
            match output {
                Output::Bytes(bytes) if to == conn => all.extend(bytes),
                Output::Close if to == conn => all.extend(b"(closed)"),
                _ => {}
            }
        }
        String::from_utf8(all).expect("it is text")
    }

    /// Delivers what is on its way, as long as there is something.
    fn settle(&mut self) {
        loop {
            let links = self.fleet.take_links();
            if links.is_empty() {
                return;
            }
            for link in &links {
                self.fleet.deliver(NOW, link);
            }
        }
    }
}

#[test]
fn an_automatic_failover_loses_what_the_replica_has_not_heard() {
    let mut cluster = Cluster::new(Flavour::Redis70);
    let (master, replica) = (cluster.master, cluster.replica);
    assert_eq!(cluster.ask(master, &["HSET", KEY, "heard", "1"]), ":1\r\n");
    cluster.settle();
    assert_eq!(
        cluster.ask(master, &["HSET", KEY, "unheard", "1"]),
        ":1\r\n"
    );
    assert_eq!(cluster.fleet.replication_lag(replica), 1);
    cluster.fleet.kill(master);
    assert!(cluster.fleet.promote(NOW, replica, Promotion::Automatic));
    cluster.settle();
    assert_eq!(cluster.fleet.owner(Fleet::slot_of(KEY.as_bytes())), replica);
    assert_eq!(
        cluster.ask(replica, &["HMGET", KEY, "heard", "unheard"]),
        "*2\r\n$1\r\n1\r\n$-1\r\n"
    );
}

#[test]
fn a_coordinated_failover_loses_nothing() {
    let mut cluster = Cluster::new(Flavour::Valkey81);
    let (master, replica) = (cluster.master, cluster.replica);
    cluster.ask(master, &["HSET", KEY, "unheard", "1"]);
    assert!(cluster.fleet.promote(NOW, replica, Promotion::Coordinated));
    assert_eq!(cluster.fleet.role(master), Role::ReplicaOf(replica));
    cluster.settle();
    assert_eq!(
        cluster.ask(replica, &["HGET", KEY, "unheard"]),
        "$1\r\n1\r\n"
    );
    let moved = format!("-MOVED 15495 127.0.0.1:{}\r\n", 7000 + replica.0);
    assert_eq!(cluster.ask(master, &["HGET", KEY, "unheard"]), moved);
}

#[test]
fn a_master_that_slept_serves_until_it_hears_of_its_replacement() {
    let mut cluster = Cluster::new(Flavour::Redis62);
    let (master, replica) = (cluster.master, cluster.replica);
    cluster.fleet.sleep(master);
    assert_eq!(cluster.ask(master, &["HSET", KEY, "late", "1"]), "");
    assert!(cluster.fleet.promote(NOW, replica, Promotion::Automatic));
    cluster.settle();
    cluster.fleet.wake(NOW, master, WakeOrder::ClientsFirst);
    assert_eq!(cluster.heard(master), ":1\r\n");
    assert_eq!(cluster.fleet.role(master), Role::ReplicaOf(replica));
    cluster.settle();
    assert!(cluster.fleet.lock_hash(master, KEY.as_bytes()).is_none());
}

#[test]
fn a_replica_that_missed_a_change_asks_for_everything() {
    let mut cluster = Cluster::new(Flavour::Redis80);
    let (master, replica) = (cluster.master, cluster.replica);
    cluster.ask(master, &["HSET", KEY, "lost", "1"]);
    assert_eq!(cluster.fleet.take_links().len(), 1);
    cluster.ask(master, &["HSET", KEY, "next", "1"]);
    let kinds: Vec<_> = cluster
        .fleet
        .take_links()
        .iter()
        .map(|link| {
            cluster.fleet.deliver(NOW, link);
            link.item.kind()
        })
        .collect();
    assert_eq!(kinds, [LinkKind::Changes]);
    assert!(cluster.fleet.lock_hash(replica, KEY.as_bytes()).is_none());
    cluster.settle();
    assert_eq!(
        cluster
            .fleet
            .lock_hash(replica, KEY.as_bytes())
            .map(|fields| fields.len()),
        Some(2)
    );
    assert_eq!(cluster.fleet.replication_lag(replica), 0);
}

#[test]
fn a_server_that_dies_in_a_script_keeps_and_tells_what_it_is_told_to() {
    for (kept, heard) in [(false, false), (true, false), (false, true)] {
        let mut cluster = Cluster::new(Flavour::Redis70);
        let master = cluster.master;
        let listener = cluster.fleet.accept(master).expect("it runs");
        let subscribe = format!("SSUBSCRIBE {KEY}\r\n");
        cluster.fleet.feed(NOW, listener, subscribe.as_bytes());
        cluster.fleet.take_output();
        cluster
            .fleet
            .fail_script_at_call(master, 3, FailKind::Dies { kept, heard });
        let script =
            "redis.call('HSET', KEYS[1], 'f', '1') redis.call('SPUBLISH', KEYS[1], 'hello')
          redis.call('PEXPIRE', KEYS[1], 1000)";
        let request = ["EVAL", script, "1", KEY];
        let request: Vec<String> = request
            .iter()
            .map(|word| format!("${}\r\n{word}\r\n", word.len()))
            .collect();
        cluster.fleet.feed(
            NOW,
            cluster.conns[master.0],
            format!("*4\r\n{}", request.concat()).as_bytes(),
        );
        let told = cluster.fleet.take_output();
        let told = told
            .iter()
            .any(|(to, output)| *to == listener && *output != Output::Close);
        assert_eq!(told, heard);
        assert!(!cluster.fleet.is_alive(master));
        cluster.fleet.restart(NOW, master, true);
        assert_eq!(
            cluster.fleet.lock_hash(master, KEY.as_bytes()).is_some(),
            kept
        );
    }
}

#[test]
fn subscribers_hear_when_their_slot_has_moved() {
    let mut cluster = Cluster::new(Flavour::Redis70);
    let master = cluster.master;
    cluster.ask(master, &["SSUBSCRIBE", KEY]);
    let to = NodeId((master.0 + 1) % 3);
    let migration = cluster
        .fleet
        .migrate_begin(NOW, Fleet::slot_of(KEY.as_bytes()), to)
        .expect("both run");
    cluster.fleet.migrate_finish(NOW, &migration);
    assert_eq!(cluster.heard(master), "");
    cluster.settle();
    assert!(cluster.heard(master).contains("sunsubscribe"));
    assert!(cluster.fleet.subscriptions(master).is_empty());
}

#[test]
fn a_cluster_without_one_of_its_masters_refuses_until_that_is_replaced() {
    let mut cluster = Cluster::new(Flavour::Redis70);
    let (master, replica) = (cluster.master, cluster.replica);
    let other = NodeId((master.0 + 1) % 3);
    let key = ["{b}", "{c}", "{d}", "{e}"];
    let key = key
        .iter()
        .find(|key| cluster.fleet.owner(Fleet::slot_of(key.as_bytes())) == other)
        .expect("one is there");
    let run = |cluster: &mut Cluster, from: u32, to: u32| {
        for tenth in from..to {
            let now = Duration::from_millis(100) * tenth;
            cluster.fleet.tick(now);
            for link in cluster.fleet.take_links() {
                cluster.fleet.deliver(now, &link);
            }
        }
    };
    run(&mut cluster, 0, 30);
    assert_eq!(cluster.ask(other, &["HLEN", key]), ":0\r\n");
    cluster.fleet.kill(master);
    run(&mut cluster, 30, 60);
    assert_eq!(
        cluster.ask(other, &["HLEN", key]),
        "-CLUSTERDOWN The cluster is down\r\n"
    );
    assert!(
        cluster
            .fleet
            .promote(Duration::from_secs(6), replica, Promotion::Automatic)
    );
    run(&mut cluster, 60, 62);
    assert_eq!(cluster.ask(other, &["HLEN", key]), ":0\r\n");
}

#[test]
fn a_text_lives_as_long_at_the_replica_which_an_old_one_counts_by_its_own_clock() {
    for flavour in Flavour::ALL {
        let mut cluster = Cluster::new(flavour);
        let (master, replica) = (cluster.master, cluster.replica);
        cluster.fleet.clock_step(NOW, replica, 5_000_000);
        let set = ["SET", KEY, "hold", "NX", "PX", "1000"];
        assert_eq!(cluster.ask(master, &set), "+OK\r\n");
        cluster.settle();
        cluster.ask(replica, &["READONLY"]);
        let kept = if flavour == Flavour::Redis62 {
            "$4\r\nhold\r\n"
        } else {
            "$-1\r\n"
        };
        assert_eq!(cluster.ask(replica, &["GET", KEY]), kept, "{flavour:?}");
        assert_eq!(cluster.ask(master, &["GET", KEY]), "$4\r\nhold\r\n");
        let moved = format!("-MOVED 15495 127.0.0.1:{}\r\n", 7000 + master.0);
        assert_eq!(cluster.ask(replica, &["GETEX", KEY]), moved);
    }
}
