//! Servers that die, start, sleep and wake, and their clocks.

use std::time::Duration;

use super::WakeOrder;
use crate::server::fleet::{ConnId, Fleet, NodeId};

impl Fleet {
    /// A server's clock jumps.
    pub fn clock_step(&mut self, now: Duration, node: NodeId, micros: i64) {
        self.at(now, node).clock.step(now, micros);
    }

    /// From now on a server's clock runs faster (or slower) by so many millionths.
    pub fn clock_rate(&mut self, now: Duration, node: NodeId, ppm: i32) {
        self.at(now, node).clock.set_rate(now, ppm);
    }

    /// A server dies; its connections end.
    pub fn kill(&mut self, node: NodeId) {
        self.nodes[node.0].die();
    }

    /// A dead server starts again; a running one is killed first. Without data it is empty; in any case it knows no
    /// script.
    pub fn restart(&mut self, now: Duration, node: NodeId, with_data: bool) {
        let history = self.new_history();
        let node = self.at(now, node);
        if node.alive {
            node.die();
        }
        node.start(with_data, history);
    }

    /// A server stops (SIGSTOP): connections stay, and what arrives waits.
    pub fn sleep(&mut self, node: NodeId) {
        let node = &mut self.nodes[node.0];
        node.asleep = node.alive;
    }

    /// It goes on with what has arrived.
    pub fn wake(&mut self, now: Duration, node: NodeId, order: WakeOrder) {
        let node = self.at(now, node);
        if !std::mem::take(&mut node.asleep) {
            return;
        }
        let inbox = std::mem::take(&mut node.inbox);
        if order == WakeOrder::ClientsFirst {
            node.serve_all();
        }
        for link in &inbox {
            node.hear(link);
        }
        if order == WakeOrder::LinksFirst {
            node.serve_all();
        }
    }

    /// A server closes its connections: those that have subscribed to something, or the others.
    pub fn client_kill_all(&mut self, node: NodeId, subscribers: bool) {
        let node = &mut self.nodes[node.0];
        if !node.is_awake() {
            return;
        }
        let conns = node
            .conns
            .iter()
            .filter(|(_, conn)| conn.is_subscriber() == subscribers);
        let conns: Vec<ConnId> = conns.map(|(id, _)| *id).collect();
        for conn in conns {
            node.hang_up(conn);
        }
    }
}
