//! Servers whose work takes time. A request that arrives while its server is busy waits: in order on its connection, and the
//! connections take turns. The server does everything that it was sent, also for clients that have given up by then.

use std::collections::{BTreeMap, VecDeque};

use super::core::Engine;
use super::{MS, Nanos};
use crate::server::NodeId;

/// How long a server takes for a command, and for a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) command: Nanos,
    pub(crate) script: Nanos,
}

/// A server reads so many bytes of one connection, and then turns to the next.
const TURN: usize = 16 * 1024;

/// How often a server that stands still is looked at.
const AGAIN: Nanos = MS;

/// What waits at a server.
#[derive(Debug)]
pub(super) enum Item {
    Request(Vec<u8>),
    /// The client has closed.
    Hangup,
}

/// What waits at one server, by connection.
#[derive(Debug, Default)]
pub(super) struct Desk {
    waiting: BTreeMap<u64, VecDeque<Item>>,
    turns: VecDeque<u64>,
    /// So many bytes of the first connection were read in this turn.
    read: usize,
    is_at_work: bool,
    /// How long the server has been busy so far.
    worked: Nanos,
}

impl Service {
    /// Whether anything takes time.
    pub(super) fn is_timed(self) -> bool {
        self != Self::default()
    }

    fn of(self, request: &[u8]) -> Nanos {
        let verb = request.split(|byte| *byte == b'\n').nth(2).unwrap_or(&[]);
        if verb.starts_with(b"EVAL") {
            self.script
        } else {
            self.command
        }
    }
}

impl Desk {
    fn put(&mut self, stream: u64, item: Item) {
        let waiting = self.waiting.entry(stream).or_default();
        if waiting.is_empty() && !self.turns.contains(&stream) {
            self.turns.push_back(stream);
        }
        waiting.push_back(item);
    }

    fn next(&mut self) -> Option<(u64, Item)> {
        loop {
            let stream = *self.turns.front()?;
            let waiting = self.waiting.get_mut(&stream);
            let next = waiting
                .filter(|_| self.read < TURN)
                .and_then(VecDeque::pop_front);
            if let Some(item) = next {
                if let Item::Request(bytes) = &item {
                    self.read += bytes.len();
                }
                return Some((stream, item));
            }
            self.read = 0;
            self.turns.pop_front();
            if self
                .waiting
                .get(&stream)
                .is_some_and(|waiting| !waiting.is_empty())
            {
                self.turns.push_back(stream);
            } else {
                self.waiting.remove(&stream);
            }
        }
    }
}

impl Engine {
    /// From now on servers take so long.
    pub(crate) fn serve_in(&self, service: Service) {
        self.service.set(service);
    }

    /// How long a server has been busy so far.
    pub(crate) fn worked(&self, node: NodeId) -> Nanos {
        let desks = self.desks.borrow();
        desks.get(&node).map_or(0, |desk| desk.worked)
    }

    /// Something arrives at a server whose work takes time.
    pub(super) fn queue(&self, node: NodeId, stream: u64, item: Item) {
        let mut desks = self.desks.borrow_mut();
        let desk = desks.entry(node).or_default();
        desk.put(stream, item);
        if !std::mem::replace(&mut desk.is_at_work, true) {
            drop(desks);
            self.work_at(self.now(), node);
        }
    }

    fn work_at(&self, at: Nanos, node: NodeId) {
        self.at(at, Box::new(move |engine| engine.work(node)));
    }

    /// A server does the next thing that it was sent.
    fn work(&self, node: NodeId) {
        if self.fleet(|fleet| fleet.is_asleep(node)) {
            self.work_at(self.now() + AGAIN, node);
            return;
        }
        let next = {
            let mut desks = self.desks.borrow_mut();
            let desk = desks.entry(node).or_default();
            let next = desk.next();
            desk.is_at_work = next.is_some();
            next
        };
        let cost = match next {
            None => return,
            Some((stream, Item::Hangup)) => {
                self.hung_up(stream);
                0
            }
            // A server that has died since forgets what it was sent.
            Some(_) if !self.fleet(|fleet| fleet.is_alive(node)) => 0,
            Some((stream, Item::Request(bytes))) => {
                let cost = self.service.get().of(&bytes);
                self.working.set(cost);
                self.serve(stream, &bytes);
                self.working.set(0);
                cost
            }
        };
        if let Some(desk) = self.desks.borrow_mut().get_mut(&node) {
            desk.worked += cost;
        }
        self.work_at(self.now() + cost, node);
    }
}

#[cfg(test)]
mod tests {
    use super::{Desk, Item, Service, TURN};

    fn streams(desk: &mut Desk) -> Vec<u64> {
        std::iter::from_fn(|| desk.next().map(|(stream, _)| stream)).collect()
    }

    #[test]
    fn connections_take_turns_and_keep_their_order() {
        let mut desk = Desk::default();
        for _ in 0..3 {
            desk.put(1, Item::Request(vec![0; TURN / 2]));
        }
        desk.put(2, Item::Request(vec![0; 10]));
        desk.put(2, Item::Hangup);
        assert_eq!(streams(&mut desk), [1, 1, 2, 2, 1]);
        desk.put(1, Item::Hangup);
        assert_eq!(streams(&mut desk), [1]);
    }

    #[test]
    fn scripts_cost_more_than_commands() {
        let service = Service {
            command: 1,
            script: 10,
        };
        let cost = |verb: &str| service.of(format!("*1\r\n$4\r\n{verb}\r\n").as_bytes());
        assert_eq!((cost("EVALSHA"), cost("EVAL"), cost("PING")), (10, 10, 1));
    }
}
