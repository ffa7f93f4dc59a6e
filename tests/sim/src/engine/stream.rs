//! Connections of clients, as both ends see them.

use std::collections::HashMap;
use std::task::Waker;

use rustc_hash::FxBuildHasher;

use super::Nanos;
use super::Random;
use super::process::ProcId;
use crate::server::{ConnId, NodeId};

/// How far a connection has come, for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Opening,
    Open,
    Refused,
    /// The server has closed it.
    Ended,
    /// It broke.
    Reset,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) of: ProcId,
    pub(crate) node: NodeId,
    /// The server's end.
    pub(crate) conn: Option<ConnId>,
    pub(crate) state: State,
    /// What has arrived and was not read.
    pub(crate) inbox: Vec<u8>,
    pub(crate) waker: Option<Waker>,
    /// When the last thing that was sent arrives: nothing overtakes on one connection.
    pub(crate) last_up: Nanos,
    pub(crate) last_down: Nanos,
    pub(crate) random: Random,
    /// Whether the client has let go of it.
    pub(crate) hung_up: bool,
}

/// All connections. They stay until both ends are gone.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    all: HashMap<u64, Stream, FxBuildHasher>,
    by_conn: HashMap<ConnId, u64, FxBuildHasher>,
    opened: u64,
}

impl Streams {
    pub(crate) fn open(&mut self, of: ProcId, node: NodeId, random: Random) -> u64 {
        self.opened += 1;
        self.all.insert(
            self.opened,
            Stream {
                of,
                node,
                conn: None,
                state: State::Opening,
                inbox: Vec::new(),
                waker: None,
                last_up: 0,
                last_down: 0,
                random,
                hung_up: false,
            },
        );
        self.opened
    }

    pub(crate) fn get(&mut self, stream: u64) -> Option<&mut Stream> {
        self.all.get_mut(&stream)
    }

    /// The two ends.
    pub(crate) fn ends(&self, stream: u64) -> Option<(ProcId, NodeId)> {
        self.all.get(&stream).map(|stream| (stream.of, stream.node))
    }

    pub(crate) fn accepted(&mut self, stream: u64, conn: ConnId) {
        if let Some(one) = self.all.get_mut(&stream) {
            one.conn = Some(conn);
            self.by_conn.insert(conn, stream);
        }
    }

    pub(crate) fn of_conn(&self, conn: ConnId) -> Option<u64> {
        self.by_conn.get(&conn).copied()
    }

    /// The streams of a process, or of a process at a server, in order.
    pub(crate) fn of(&self, of: ProcId, node: Option<NodeId>) -> Vec<u64> {
        let mut found: Vec<u64> = self
            .all
            .iter()
            .filter(|(_, one)| one.of == of && node.is_none_or(|node| one.node == node))
            .map(|(stream, _)| *stream)
            .collect();
        found.sort_unstable();
        found
    }

    pub(crate) fn forget(&mut self, stream: u64) {
        if let Some(conn) = self.all.remove(&stream).and_then(|one| one.conn) {
            self.by_conn.remove(&conn);
        }
    }
}
