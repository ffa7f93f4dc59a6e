//! What goes wrong on the network: cuts, broken connections, requests that are held back.

use super::Nanos;
use super::core::Engine;
use super::network::{Cut, HoldBack, Mend, Messages, Parcel};
use super::process::{End, ProcId};
use super::stream::State;
use crate::server::{ConnId, NodeId};

impl Engine {
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
            for stream in stalled.iter().filter_map(Parcel::stream) {
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
            if if up {
                path.cut_requests
            } else {
                path.cut_answers
            } > 0
            {
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

    /// If none was.
    pub(crate) fn hold_back_no_more(&self, of: ProcId, node: NodeId) {
        self.net.borrow_mut().path(of, node).hold_back = None;
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
                one.is_some_and(|one| one.last_up > now + slow)
            };
            if held {
                self.cut_off(stream);
            }
        }
    }

    /// A connection breaks for the client; what it has sent arrives all the same.
    pub(super) fn cut_off(&self, stream: u64) {
        if self.hang_up(stream) {
            self.change(stream, State::Reset);
        }
    }

    /// The client's end of a connection closes, once; whether it does now.
    pub(super) fn hang_up(&self, stream: u64) -> bool {
        let open = {
            let mut net = self.net.borrow_mut();
            let one = net.streams.get(stream);
            one.is_some_and(|one| !std::mem::replace(&mut one.hung_up, true))
        };
        if open {
            self.send_up(stream, Parcel::Hangup(stream));
        }
        open
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
