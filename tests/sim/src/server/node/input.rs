//! What clients send.

use super::{Conn, Node};
use crate::server::fleet::{ConnId, Output};
use crate::server::resp::{Parsed, Reply, parse};

/// Whether a request has to wait while writes are paused.
fn writes(arguments: &[&[u8]]) -> bool {
    const WRITES: [&[u8]; 10] = [
        b"EVAL",
        b"EVALSHA",
        b"SET",
        b"DEL",
        b"HSET",
        b"HDEL",
        b"GETEX",
        b"PEXPIRE",
        b"PUBLISH",
        b"SPUBLISH",
    ];
    let verb = arguments.first().map(|verb| verb.to_ascii_uppercase());
    verb.is_some_and(|verb| WRITES.contains(&&*verb))
}

impl Node {
    pub(in super::super) fn accept(&mut self, conn: ConnId) {
        self.conns.insert(conn, Conn::default());
    }

    /// Bytes arrive. A server that sleeps looks at them later.
    pub(in super::super) fn receive(&mut self, id: ConnId, bytes: &[u8]) {
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        conn.input.extend_from_slice(bytes);
        if self.is_awake() {
            self.serve(id);
        }
    }

    /// Serves all whole requests that have arrived.
    pub(in super::super) fn serve(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        let mut input = std::mem::take(&mut conn.input);
        let mut done = 0;
        while self.alive && self.conns.get(&id).is_some_and(|conn| !conn.closing) {
            match parse(&input[done..]) {
                Parsed::Part => break,
                Parsed::Nonsense(what) => {
                    self.answer(id, &Reply::error(format!("ERR Protocol error: {what}")));
                    self.hang_up(id);
                    return;
                }
                Parsed::Request(ranges, length) => {
                    let bytes = &input[done..];
                    let arguments: Vec<&[u8]> =
                        ranges.into_iter().map(|range| &bytes[range]).collect();
                    if self.paused && writes(&arguments) {
                        break;
                    }
                    if !arguments.is_empty() {
                        self.serving = Some(id);
                        let reply = self.request(id, &arguments);
                        self.serving = None;
                        self.answer(id, &reply);
                        for push in std::mem::take(&mut self.held_back) {
                            self.answer(id, &push);
                        }
                        self.replicate();
                    }
                    done += length;
                }
            }
        }
        if self.conns.get(&id).is_some_and(|conn| conn.closing) {
            self.hang_up(id);
        } else if let Some(conn) = self.conns.get_mut(&id) {
            input.drain(..done);
            conn.input = input;
        }
    }

    /// Writes to a connection, if it is still there.
    pub(in super::super) fn answer(&mut self, id: ConnId, reply: &Reply) {
        let Some(conn) = self.conns.get(&id) else {
            return;
        };
        let resp3 = conn.resp3;
        if let Some((last, Output::Bytes(bytes))) = self.out.last_mut()
            && *last == id
        {
            reply.write(resp3, bytes);
            return;
        }
        let mut bytes = Vec::new();
        reply.write(resp3, &mut bytes);
        if !bytes.is_empty() {
            self.out.push((id, Output::Bytes(bytes)));
        }
    }

    /// The server closes a connection.
    pub(in super::super) fn hang_up(&mut self, id: ConnId) {
        if self.forget(id) {
            self.out.push((id, Output::Close));
        }
    }

    /// A connection is gone.
    pub(in super::super) fn forget(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.remove(&id) else {
            return false;
        };
        for (of_conn, listeners) in [
            (conn.channels, &mut self.channels),
            (conn.shard_channels, &mut self.shard_channels),
        ] {
            for channel in of_conn {
                super::messages::stop(listeners, &channel, id);
            }
        }
        true
    }
}
