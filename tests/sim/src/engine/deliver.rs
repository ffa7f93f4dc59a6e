//! What arrives at either end of a connection, and what servers send.

use super::bytes::{is_message, length_of_request, printable};
use super::core::Engine;
use super::desk::Item;
use super::network::Parcel;
use super::stream::State;
use crate::history::Kind;
use crate::server::{Link, LinkKind, Output};

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
                self.tell(Kind::Wire, || format!("#{stream} <- {}", printable(&bytes)));
                let mut net = self.net.borrow_mut();
                if let Some(one) = net.streams.get(stream) {
                    one.inbox.extend_from_slice(&bytes);
                    wake(one.waker.take());
                }
            }
            Parcel::Hangup(stream) => {
                let ends = self.net.borrow().streams.ends(stream);
                match ends.filter(|_| self.service.get().is_timed()) {
                    Some((_, node)) => self.queue(node, stream, Item::Hangup),
                    None => self.hung_up(stream),
                }
            }
            Parcel::Closed(stream) => self.change(stream, State::Ended),
            Parcel::Link(link) => {
                self.step("link", link.to.0 as u64, &[]);
                self.with_fleet(|fleet, now| fleet.deliver(now, &link));
            }
        }
    }

    /// A server learns that a client has closed.
    pub(super) fn hung_up(&self, stream: u64) {
        self.step("hangup", stream, &[]);
        let conn = (self.net.borrow_mut().streams.get(stream)).and_then(|one| one.conn);
        if let Some(conn) = conn {
            self.with_fleet(|fleet, _| fleet.close(conn));
        }
        self.net.borrow_mut().streams.forget(stream);
    }

    pub(super) fn change(&self, stream: u64, state: State) {
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
        let ends = self.net.borrow().streams.ends(stream);
        let Some((_, node)) = ends.filter(|_| self.service.get().is_timed()) else {
            self.serve(stream, bytes);
            return;
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (one, more) = rest.split_at(length_of_request(rest));
            self.queue(node, stream, Item::Request(one.to_vec()));
            rest = more;
        }
    }

    /// A server does what it was sent.
    pub(super) fn serve(&self, stream: u64, bytes: &[u8]) {
        let found = {
            let mut net = self.net.borrow_mut();
            net.streams
                .get(stream)
                .and_then(|one| Some((one.of, one.node, one.conn?)))
        };
        let Some((of, node, conn)) = found else {
            return;
        };
        self.step("request", stream, bytes);
        self.tell(Kind::Wire, || {
            format!("#{stream} p{} -> n{} {}", of.0, node.0, printable(bytes))
        });
        let watcher = self.watcher.borrow().clone();
        // One by one, as checkers want to see the effect of each.
        let mut rest = bytes;
        while !rest.is_empty() {
            let (one, more) = rest.split_at(length_of_request(rest));
            if let Some(watcher) = &watcher {
                watcher.serves(self, node, one);
            }
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
        let delay = net
            .bus
            .delay(pair, link.item.kind(), self.now(), &mut random);
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
        } else if let (Some((of, _)), Some(watcher)) = (
            self.net.borrow().streams.ends(stream),
            &*self.watcher.borrow(),
        ) {
            watcher.answered(of, &bytes);
        }
        self.send_down(stream, Parcel::Answer(stream, bytes));
    }

    pub(super) fn send_down(&self, stream: u64, parcel: Parcel) {
        let mut net = self.net.borrow_mut();
        let at = net.travel(stream, self.now(), self.working.get(), false);
        net.send(at, parcel);
    }

    pub(super) fn send_up(&self, stream: u64, parcel: Parcel) {
        let mut net = self.net.borrow_mut();
        let held = net.next_held_back(stream);
        let delay = held.map_or(0, |held| held.delay);
        let at = net.travel(stream, self.now(), delay, true);
        net.send(at, parcel);
        drop(net);
        if held.is_some_and(|held| held.breaks) {
            self.cut_off(stream);
        }
    }
}

fn wake(waker: Option<std::task::Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
