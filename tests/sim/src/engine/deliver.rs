//! What arrives at either end of a connection, and what servers send.

use super::core::Engine;
use super::network::{Cut, HoldBack, Mend, Messages, Parcel, Path};
use super::process::{End, ProcId};
use super::stream::State;
use super::Nanos;
use crate::history::Kind;
use crate::server::{ConnId, Link, LinkKind, NodeId, Output};

impl Engine {
    pub(super) fn deliver(&self, parcel: Parcel) {
        match parcel {
            Parcel::Open(stream) => self.open_at_server(stream),
            Parcel::Opened(stream, open) => {
                self.change(stream, if open { State::Open } else { State::Refused });
            }
            Parcel::Request(stream, bytes) => self.request(stream, &bytes),
            Parcel::Answer(stream, bytes) => {
                self.step("answer", stream, &bytes);
                self.tell(Kind::Wire, || {
                    format!("#{stream} <- {}", printable(&bytes))
                });
                let mut net = self.net.borrow_mut();
                if let Some(one) = net.streams.get(stream) {
                    one.inbox.extend_from_slice(&bytes);
                    wake(one.waker.take());
                }
            }
            Parcel::Hangup(stream) => {
                self.step("hangup", stream, &[]);
                let conn = (self.net.borrow_mut().streams.get(stream)).and_then(|one| one.conn);
                if let Some(conn) = conn {
                    self.with_fleet(|fleet, _| fleet.close(conn));
                }
                self.net.borrow_mut().streams.forget(stream);
            }
            Parcel::Closed(stream) => self.change(stream, State::Ended),
            Parcel::Link(link) => {
                self.step("link", link.to.0 as u64, &[]);
                self.with_fleet(|fleet, now| fleet.deliver(now, &link));
            }
        }
    }

    fn change(&self, stream: u64, state: State) {
        self.step("state", stream, &[state as u8]);
        let mut net = self.net.borrow_mut();
        if let Some(one) = net.streams.get(stream) {
            one.state = state;
            wake(one.waker.take());
        }
    }

    fn open_at_server(&self, stream: u64) {
        let Some((_, node)) = self.net.borrow().streams.ends(stream) else {
            return;
        };
        let conn = self.with_fleet(|fleet, _| fleet.accept(node));
        self.step("open", stream, &[u8::from(conn.is_some())]);
        let mut net = self.net.borrow_mut();
        if let Some(conn) = conn {
            net.streams.accepted(stream, conn);
        }
        drop(net);
        self.send_down(stream, Parcel::Opened(stream, conn.is_some()));
    }

    fn request(&self, stream: u64, bytes: &[u8]) {
        let found = {
            let mut net = self.net.borrow_mut();
            net.streams
                .get(stream)
                .and_then(|one| Some((one.of, one.node, one.conn?)))
        };
        let Some((of, node, conn)) = found else { return };
        self.step("request", stream, bytes);
        self.tell(Kind::Wire, || {
            format!("#{stream} p{} -> n{} {}", of.0, node.0, printable(bytes))
        });
        let watcher = self.watcher.borrow().clone();
        // One by one, as whoever watches wants to see what each does.
        let mut rest = bytes;
        while !rest.is_empty() {
            let (one, more) = rest.split_at(length_of_request(rest));
            self.with_fleet(|fleet, now| fleet.feed(now, conn, one));
            if let Some(watcher) = &watcher {
                watcher.served(self, of, node, one);
            }
            rest = more;
        }
    }

    /// Sends on what servers have written.
    pub(super) fn collect(&self) {
        let (outputs, links) = self.written();
        for (conn, output) in outputs {
            let Some(stream) = self.net.borrow().streams.of_conn(conn) else {
                continue;
            };
            match output {
                Output::Bytes(bytes) => self.answer(stream, bytes),
                Output::Close => self.send_down(stream, Parcel::Closed(stream)),
            }
        }
        for link in links {
            self.link(link);
        }
    }

    fn link(&self, link: Link) {
        let mut random = self.links.borrow_mut();
        let mut net = self.net.borrow_mut();
        let pair = (link.from, link.to);
        if net.bus.is_cut(pair) && link.item.kind() != LinkKind::Changes {
            return;
        }
        let delay = net.bus.delay(pair, link.item.kind(), self.now(), &mut random);
        net.send(delay, Parcel::Link(Box::new(link)));
    }

    /// Bytes from a server: messages among them may be lost, doubled or late.
    fn answer(&self, stream: u64, bytes: Vec<u8>) {
        if is_message(&bytes) {
            let mut net = self.net.borrow_mut();
            let Some((of, node)) = net.streams.ends(stream) else {
                return;
            };
            let messages = net.path(of, node).messages;
            let pace = net.pace.base;
            let Some(one) = net.streams.get(stream) else {
                return;
            };
            if one.random.chance(messages.dropped) {
                return;
            }
            let doubled = one.random.chance(messages.doubled);
            let late = one.random.chance(messages.late);
            let delay = pace + one.random.scaled(1_000_000, 2_000_000_000);
            if late || doubled {
                net.send(self.now() + delay, Parcel::Answer(stream, bytes.clone()));
            }
            drop(net);
            if late {
                return;
            }
        }
        self.send_down(stream, Parcel::Answer(stream, bytes));
    }

    pub(super) fn send_down(&self, stream: u64, parcel: Parcel) {
        let mut net = self.net.borrow_mut();
        let at = net.travel(stream, self.now(), false);
        net.send(at, parcel);
    }

    pub(super) fn send_up(&self, stream: u64, parcel: Parcel) {
        let mut net = self.net.borrow_mut();
        let at = net.travel(stream, self.now(), true);
        net.send(at, parcel);
    }

    /// Cuts a path.
    pub(crate) fn cut(&self, of: ProcId, node: NodeId, cut: Cut) {
        let mut net = self.net.borrow_mut();
        let path = net.path(of, node);
        path.cut_requests += u32::from(cut != Cut::Answers);
        path.cut_answers += u32::from(cut != Cut::Requests);
    }

    /// Ends a cut.
    pub(crate) fn mend(&self, of: ProcId, node: NodeId, cut: Cut, how: Mend) {
        let stalled = {
            let mut net = self.net.borrow_mut();
            let path = net.path(of, node);
            path.cut_requests -= u32::from(cut != Cut::Answers);
            path.cut_answers -= u32::from(cut != Cut::Requests);
            std::mem::take(&mut path.stalled)
        };
        if how == Mend::Reset {
            for stream in stalled.iter().filter_map(|parcel| parcel.stream()) {
                self.reset(stream.0);
            }
            return;
        }
        for parcel in stalled {
            let mut net = self.net.borrow_mut();
            let Some((_, up)) = parcel.stream() else {
                continue;
            };
            let path = net.path(of, node);
            if if up { path.cut_requests } else { path.cut_answers } > 0 {
                path.stalled.push(parcel);
                continue;
            }
            drop(net);
            self.deliver(parcel);
        }
    }

    /// Breaks the connections of a process to a server.
    pub(crate) fn reset_all(&self, of: ProcId, node: NodeId) {
        let streams = self.net.borrow().streams.of(of, Some(node));
        for stream in streams {
            self.reset(stream);
        }
    }

    fn reset(&self, stream: u64) {
        self.change(stream, State::Reset);
        let conn = (self.net.borrow_mut().streams.get(stream)).and_then(|one| one.conn.take());
        if let Some(conn) = conn {
            self.with_fleet(|fleet, _| fleet.close(conn));
        }
    }

    /// The server never hears of the ends of the connections that there are.
    pub(crate) fn half_open(&self, of: ProcId, node: NodeId) {
        let streams = self.net.borrow().streams.of(of, Some(node));
        for stream in streams {
            if let Some(one) = self.net.borrow_mut().streams.get(stream) {
                one.hung_up = true;
            }
            self.change(stream, State::Reset);
        }
    }

    /// A request is held back on its way.
    pub(crate) fn hold_back(&self, of: ProcId, node: NodeId, hold_back: HoldBack) {
        self.net.borrow_mut().path(of, node).hold_back = Some(hold_back);
    }

    /// The connections on which something is held back break for the client; what is held back arrives all the same.
    pub(crate) fn break_held(&self, of: ProcId, node: NodeId) {
        let now = self.now();
        let streams = self.net.borrow().streams.of(of, Some(node));
        for stream in streams {
            let held = {
                let mut net = self.net.borrow_mut();
                let slow = net.path(of, node).slow + net.pace.base + net.pace.jitter;
                let one = net.streams.get(stream);
                one.is_some_and(|one| {
                    let held = one.last_up > now + slow && !one.hung_up;
                    one.hung_up |= held;
                    held
                })
            };
            if held {
                self.send_up(stream, Parcel::Hangup(stream));
                self.change(stream, State::Reset);
            }
        }
    }

    /// Cuts one server off from another, or no longer.
    pub(crate) fn cut_bus(&self, from: NodeId, to: NodeId, cut: bool) {
        self.net.borrow_mut().bus.cut(from, to, cut);
    }

    /// How long servers' messages to each other take, at most.
    pub(crate) fn pace_of_servers(&self, changes: Nanos, others: Nanos) {
        let bus = &mut self.net.borrow_mut().bus;
        (bus.changes, bus.others) = (changes, others);
    }

    /// Whether the client of a connection is gone without the server's knowledge.
    pub(crate) fn is_orphan(&self, conn: ConnId) -> bool {
        let mut net = self.net.borrow_mut();
        let stream = net.streams.of_conn(conn);
        stream
            .and_then(|stream| net.streams.get(stream))
            .is_none_or(|one| one.hung_up)
    }

    /// Changes what happens to messages on their way to a process.
    pub(crate) fn messages(&self, of: ProcId, node: NodeId, messages: Messages) {
        self.net.borrow_mut().path(of, node).messages = messages;
    }

    /// Makes a path slow, or ordinary again.
    pub(crate) fn slow(&self, of: ProcId, node: NodeId, slow: Nanos) {
        self.net.borrow_mut().path(of, node).slow = slow;
    }

    /// Looks at a path.
    pub(crate) fn path<T>(
        &self,
        of: ProcId,
        node: NodeId,
        look: impl FnOnce(&mut Path) -> T,
    ) -> T {
        look(self.net.borrow_mut().path(of, node))
    }

    /// What was a process's goes with it.
    pub(super) fn hang_up_all(&self, of: ProcId, end: End) {
        let streams = self.net.borrow().streams.of(of, None);
        for stream in streams {
            let mut net = self.net.borrow_mut();
            let Some(one) = net.streams.get(stream) else {
                continue;
            };
            if std::mem::replace(&mut one.hung_up, true) {
                continue;
            }
            drop(net);
            if end == End::Killed {
                self.send_up(stream, Parcel::Hangup(stream));
            }
        }
    }
}

/// The length of the first request; of all if it is not whole.
fn length_of_request(bytes: &[u8]) -> usize {
    let number = |at: usize| {
        let line = bytes.get(at + 1..)?;
        let end = memchr::memchr(b'\r', line)?;
        let number: usize = std::str::from_utf8(&line[..end]).ok()?.parse().ok()?;
        Some((number, at + end + 3))
    };
    let whole = || {
        let (words, mut at) = number(0).filter(|_| bytes[0] == b'*')?;
        for _ in 0..words {
            let (length, start) = number(at)?;
            at = start + length + 2;
        }
        (at <= bytes.len()).then_some(at)
    };
    whole().unwrap_or(bytes.len())
}

/// Whether this is a message of pub/sub, not an answer.
fn is_message(bytes: &[u8]) -> bool {
    bytes.starts_with(b">3\r\n$7\r\nmessage") || bytes.starts_with(b">3\r\n$8\r\nsmessage")
}

fn wake(waker: Option<std::task::Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// For readers.
fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<&str> = text
        .split("\r\n")
        .filter(|word| !word.starts_with(['$', '*']) && !word.is_empty())
        .collect();
    let mut line = words.join(" ");
    if line.len() > 300 {
        let end = (0..300).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        line.truncate(end);
        line.push('…');
    }
    line.replace('\n', " ")
}
