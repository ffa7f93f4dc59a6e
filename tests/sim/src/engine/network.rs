//! The network between processes and servers: paths with their pace and their faults.

use std::collections::BTreeMap;

use super::Random;
use super::process::ProcId;
use super::stream::Streams;
use super::{MS, Nanos};
use crate::server::{Link, LinkKind, NodeId};

/// How long things are on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// At least.
    pub(crate) base: Nanos,
    /// Up to so much more.
    pub(crate) jitter: Nanos,
    /// So often out of a thousand times a packet is lost and sent again, after `spike`.
    pub(crate) lost: u32,
    /// How long it takes then.
    pub(crate) spike: Nanos,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            base: MS / 10,
            jitter: MS / 10,
            lost: 0,
            spike: 200 * MS,
        }
    }
}

/// Which direction of a path is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Requests do not arrive.
    Requests,
    /// They do, but answers and messages do not.
    Answers,
    /// Nothing does.
    Both,
}

/// What becomes of what was on its way when a cut ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mend {
    /// It arrives late.
    Late,
    /// The connections are reset.
    Reset,
}

/// The next request is held back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoldBack {
    /// How many requests go through before.
    pub(crate) after: u32,
    /// For how long it is held.
    pub(crate) delay: Nanos,
    /// Whether the connection breaks for the client as it leaves.
    pub(crate) breaks: bool,
}

/// What happens to messages of pub/sub, so often out of a thousand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Messages {
    pub(crate) dropped: u32,
    pub(crate) doubled: u32,
    pub(crate) late: u32,
}

/// Between a process and a server.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(crate) cut_requests: u32,
    pub(crate) cut_answers: u32,
    /// What was on its way when it was cut.
    pub(crate) stalled: Vec<Parcel>,
    pub(crate) hold_back: Option<HoldBack>,
    pub(crate) messages: Messages,
    /// How much longer things take.
    pub(crate) slow: Nanos,
}

/// Something on its way.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// A connection is to be opened.
    Open(u64),
    /// It is open, or refused.
    Opened(u64, bool),
    /// Bytes to the server.
    Request(u64, Vec<u8>),
    /// Bytes to the client.
    Answer(u64, Vec<u8>),
    /// The client has closed.
    Hangup(u64),
    /// The server has closed.
    Closed(u64),
    /// Between servers.
    Link(Box<Link>),
}

impl Parcel {
    /// The connection, and whether it goes to the server.
    pub(crate) fn stream(&self) -> Option<(u64, bool)> {
        match self {
            Self::Open(stream) | Self::Request(stream, _) | Self::Hangup(stream) => {
                Some((*stream, true))
            }
            Self::Opened(stream, _) | Self::Answer(stream, _) | Self::Closed(stream) => {
                Some((*stream, false))
            }
            Self::Link(_) => None,
        }
    }
}

/// Among servers: what one sends to another arrives in order, each kind for itself.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    cut: BTreeMap<(NodeId, NodeId), u32>,
    last: BTreeMap<(NodeId, NodeId, LinkKind), Nanos>,
    /// How long changes of data and the rest are on their way, at most.
    pub(crate) changes: Nanos,
    pub(crate) others: Nanos,
}

impl Bus {
    pub(super) fn is_cut(&self, pair: (NodeId, NodeId)) -> bool {
        self.cut.get(&pair).is_some_and(|cuts| *cuts > 0)
    }

    /// Cuts servers off from each other, in one direction; or no longer.
    pub(crate) fn cut(&mut self, from: NodeId, to: NodeId, cut: bool) {
        let cuts = self.cut.entry((from, to)).or_default();
        *cuts = if cut {
            *cuts + 1
        } else {
            cuts.saturating_sub(1)
        };
    }

    pub(super) fn delay(
        &mut self,
        pair: (NodeId, NodeId),
        kind: LinkKind,
        now: Nanos,
        random: &mut Random,
    ) -> Nanos {
        let most = match kind {
            LinkKind::Changes => self.changes,
            _ => self.others,
        };
        let last = self.last.entry((pair.0, pair.1, kind)).or_default();
        *last = (*last).max(now + MS / 20 + random.within(0, most));
        *last
    }
}

/// All connections, paths, and what is on its way.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) bus: Bus,
    pub(crate) streams: Streams,
    pub(crate) paths: BTreeMap<(ProcId, NodeId), Path>,
    pub(crate) pace: Pace,
    on_its_way: BTreeMap<(Nanos, u64), Parcel>,
    sent: u64,
}

impl Network {
    pub(crate) fn path(&mut self, of: ProcId, node: NodeId) -> &mut Path {
        self.paths.entry((of, node)).or_default()
    }

    /// The next message to a server is held back so, if there is one.
    pub(crate) fn next_held_back(&mut self, stream: u64) -> Option<HoldBack> {
        let (of, node) = self.streams.ends(stream)?;
        let hold_back = &mut self.path(of, node).hold_back;
        let next = hold_back.as_mut()?;
        if next.after == 0 {
            return hold_back.take();
        }
        next.after -= 1;
        None
    }

    /// When what is sent now on a connection, and held back for so long, arrives: not before what was sent before.
    pub(crate) fn travel(&mut self, stream: u64, now: Nanos, held: Nanos, up: bool) -> Nanos {
        let Some((of, node)) = self.streams.ends(stream) else {
            return now;
        };
        let pace = self.pace;
        let slow = self.path(of, node).slow;
        let Some(one) = self.streams.get(stream) else {
            return now;
        };
        let mut delay = pace.base + one.random.within(0, pace.jitter) + slow + held;
        if one.random.chance(pace.lost) {
            delay += pace.spike;
        }
        let last = if up {
            &mut one.last_up
        } else {
            &mut one.last_down
        };
        *last = (*last).max(now + delay);
        *last
    }

    /// Sends something that arrives then.
    pub(crate) fn send(&mut self, at: Nanos, parcel: Parcel) {
        self.sent += 1;
        self.on_its_way.insert((at, self.sent), parcel);
    }

    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.on_its_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// What arrives next, unless it is on a path that is cut: then it stalls there.
    pub(crate) fn arrive(&mut self, now: Nanos) -> Option<Parcel> {
        while self.next_due()? <= now {
            let (_, parcel) = self.on_its_way.pop_first()?;
            let Some((stream, up)) = parcel.stream() else {
                return Some(parcel);
            };
            let Some((of, node)) = self.streams.ends(stream) else {
                continue;
            };
            let path = self.path(of, node);
            if if up {
                path.cut_requests
            } else {
                path.cut_answers
            } == 0
            {
                return Some(parcel);
            }
            path.stalled.push(parcel);
        }
        None
    }
}
