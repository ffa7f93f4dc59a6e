//! One sequence on both sides.

use std::time::{Duration, Instant};

use dlock_sim::server::{ConnId, Fleet, NodeId, Output};

use crate::real::{Real, RealConn};
use crate::side::{Decoder, Link as _, packed};
use crate::value::Value;

/// A connection to a real server and to its model.
struct Pair {
    real: RealConn,
    model: ConnId,
    decoder: Decoder,
    /// Whether it has listened to something.
    listens: bool,
}

/// Both sides, the model with the real one's time.
pub(crate) struct Both<'r> {
    pub(crate) real: &'r Real,
    pub(crate) model: Fleet,
    began: Instant,
    conns: Vec<Pair>,
    markers: u64,
    /// What was asked, to be shown when the answers differ.
    history: Vec<String>,
    pub(crate) seed: u64,
}

impl<'r> Both<'r> {
    /// `model` is as old as `began` says.
    pub(crate) fn new(real: &'r Real, model: Fleet, began: Instant, seed: u64) -> Self {
        Self {
            real,
            model,
            began,
            conns: Vec::new(),
            markers: 0,
            history: Vec::new(),
            seed,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Opens a connection; its number.
    pub(crate) fn connect(&mut self, node: usize) -> usize {
        let real = self.real.connect(node);
        let model = self.model.accept(NodeId(node)).expect("the model runs");
        self.conns.push(Pair {
            real,
            model,
            decoder: Decoder::default(),
            listens: false,
        });
        self.conns.len() - 1
    }

    /// Has a connection speak RESP3. The answer tells a number that is each side's own.
    pub(crate) fn resp3(&mut self, conn: usize) {
        let hello: Vec<Vec<u8>> = vec![b"HELLO".to_vec(), b"3".to_vec()];
        let mut sides = [
            self.real_side(conn, &packed(&hello)),
            self.model_side(conn, &packed(&hello)),
        ];
        for side in &mut sides {
            let Some(Value::Many(_, items)) = side.first_mut() else {
                panic!("{side:?} is no answer to HELLO");
            };
            let at = items
                .iter()
                .position(|item| item.is("id"))
                .expect("it has a number");
            items.remove(at + 1);
        }
        self.compare(&sides[0], &sides[1]);
    }

    pub(crate) fn note(&mut self, what: impl Into<String>) {
        self.history.push(what.into());
    }

    /// Compares what has come on any connection.
    pub(crate) fn look_everywhere(&mut self) {
        for conn in 0..self.conns.len() {
            self.ask(conn, &[]);
        }
    }

    /// Sends requests on a connection, and compares all that comes there and to those who listen.
    pub(crate) fn ask(&mut self, conn: usize, requests: &[Vec<Vec<u8>>]) {
        for request in requests {
            let short = |word: &Vec<u8>| {
                String::from_utf8_lossy(word)
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .take(100)
                    .collect::<String>()
            };
            let words: Vec<_> = request.iter().map(short).collect();
            self.note(format!("{conn}: {}", words.join(" · ")));
        }
        let is_subscribe = |request: &Vec<Vec<u8>>| request[0].ends_with(b"SUBSCRIBE");
        self.conns[conn].listens |= requests.iter().any(is_subscribe);
        let bytes: Vec<u8> = requests
            .iter()
            .flat_map(|request| packed(request))
            .collect();
        let mut answers = Vec::with_capacity(self.conns.len());
        // First the one that asks: the others hear of it no later than its answer comes.
        let order: Vec<usize> = std::iter::once(conn)
            .chain(self.listeners().filter(|other| *other != conn))
            .collect();
        for at in &order {
            let asked = if *at == conn { &*bytes } else { &[] };
            answers.push(self.real_side(*at, asked));
        }
        self.carry_links();
        for (at, mut real) in order.into_iter().zip(answers) {
            let asked = if at == conn { &*bytes } else { &[] };
            let model = self.model_side(at, asked);
            // From one real server to another a message takes its time.
            let until = Instant::now() + Duration::from_secs(5);
            while real.len() < model.len() && Instant::now() < until {
                real.extend(self.real_side(at, &[]));
            }
            self.compare(&in_order(real), &in_order(model));
        }
    }

    /// Ends all connections: the next sequence finds no subscriber.
    pub(crate) fn end(self) {
        for pair in self.conns {
            pair.real.close();
        }
    }

    fn listeners(&self) -> impl Iterator<Item = usize> {
        let listening = self
            .conns
            .iter()
            .enumerate()
            .filter(|(_, pair)| pair.listens);
        listening.map(|(at, _)| at)
    }

    fn marker(&self) -> (String, Vec<u8>) {
        let marker = format!("marker-{}", self.markers);
        let ping = packed(&[b"PING", marker.as_bytes()]);
        (marker, ping)
    }

    fn real_side(&mut self, at: usize, bytes: &[u8]) -> Vec<Value> {
        self.markers += 1;
        let (marker, ping) = self.marker();
        let real = &mut self.conns[at].real;
        real.write(&[bytes, &ping].concat());
        real.until(&marker)
    }

    fn model_side(&mut self, at: usize, bytes: &[u8]) -> Vec<Value> {
        let (marker, ping) = self.marker();
        let now = self.now();
        let conn = self.conns[at].model;
        self.model.feed(now, conn, &[bytes, &ping].concat());
        self.carry_links();
        for (conn, output) in self.model.take_output() {
            let Output::Bytes(bytes) = output else {
                panic!("the model closes a connection");
            };
            let pair = self.conns.iter_mut().find(|pair| pair.model == conn);
            pair.expect("the connection is known").decoder.add(&bytes);
        }
        let values = self.conns[at].decoder.until(&marker);
        values.unwrap_or_else(|| {
            panic!(
                "seed {}: the model has not answered\n{}",
                self.seed,
                self.history.join("\n")
            )
        })
    }

    /// What the model's servers tell each other arrives at once.
    pub(crate) fn carry_links(&mut self) {
        for _ in 0..10 {
            let links = self.model.take_links();
            if links.is_empty() {
                return;
            }
            let now = self.now();
            for link in &links {
                self.model.deliver(now, link);
            }
        }
    }

    fn compare(&self, real: &[Value], model: &[Value]) {
        let passed = u64::try_from(self.now().as_micros()).unwrap_or(u64::MAX) + 20_000;
        let same =
            real.len() == model.len() && real.iter().zip(model).all(|(a, b)| a.is_like(b, passed));
        assert!(
            same,
            "{}\nseed {}: the answers differ\nreal  {real:?}\nmodel {model:?}",
            self.history.join("\n"),
            self.seed
        );
    }
}

/// What comes in any order, in one: the channels that a slot takes with it, since Redis 8, and the ranges of slots, which
/// Redis 6.2 tells server by server.
fn in_order(mut values: Vec<Value>) -> Vec<Value> {
    for value in &mut values {
        value.sort_ranges();
    }
    let is_end = |value: &Value| value.pushed("sunsubscribe").is_some();
    for run in values.chunk_by_mut(|a, b| is_end(a) && is_end(b)) {
        let mut channels: Vec<Value> = run
            .iter()
            .filter_map(|end| end.pushed("sunsubscribe").cloned())
            .collect();
        channels.sort_by_key(|channel| format!("{channel:?}"));
        for (end, channel) in run.iter_mut().zip(channels) {
            if let Value::Many(_, parts) = end {
                parts[1] = channel;
            }
        }
    }
    values
}
