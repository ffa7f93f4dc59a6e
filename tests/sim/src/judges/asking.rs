//! A client that goes to the server that a slot is moving to has been sent there, each time: other keys of the slot, and the same
//! one a moment later, may still be where they were.

use std::collections::BTreeMap;

use super::Judges;
use crate::engine::{Engine, ProcId};

/// How often a process was sent elsewhere for once, and how often it has gone.
#[derive(Debug, Default)]
pub(super) struct Sent {
    told: u64,
    gone: u64,
}

pub(super) type Asked = BTreeMap<ProcId, Sent>;

/// It goes a second time if that server does not know the script.
const TIMES: u64 = 2;

impl Judges {
    /// A server has answered a process.
    pub(crate) fn note_answer(&self, of: ProcId, answer: &[u8]) {
        let lines = answer.split(|byte| *byte == b'\n');
        let told = lines.filter(|line| line.starts_with(b"-ASK ")).count();
        if told > 0 {
            let mut asked = self.asked.borrow_mut();
            asked.entry(of).or_default().told += told as u64;
        }
    }

    /// A process has sent a request to a server.
    pub(crate) fn look_at_asking(&self, engine: &Engine, of: ProcId, request: &[u8]) {
        if !request.ends_with(b"\r\nASKING\r\n") {
            return;
        }
        let mut asked = self.asked.borrow_mut();
        let sent = asked.entry(of).or_default();
        sent.gone += 1;
        let Sent { told, gone } = *sent;
        if gone > TIMES * told {
            let story = format!(
                "p{} went {gone} times to where a slot is moving, and was sent there {told} times",
                of.0
            );
            self.object("asking", engine.now(), story);
        }
    }
}
