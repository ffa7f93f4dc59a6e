//! Which reply belongs to which request of a connection.

use std::collections::VecDeque;

use super::{
    counters::increment,
    frame::{frame_len, words},
    rules::{Cut, Rules},
};

/// Whether the connection goes on after what has been written so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Cut,
    /// Cut for the client; the server is to get this request later.
    Keep(Vec<u8>),
    /// Open, and silent from now on.
    Mute,
}

/// What both directions of one connection know of each other.
#[derive(Debug, Default)]
pub(crate) struct Dialogue {
    waiting: VecDeque<Request>,
    subscribed: bool,
    replicates: bool,
    user: Option<Vec<u8>>,
}

/// A request whose reply has not come yet.
#[derive(Debug)]
struct Request {
    cut_after: bool,
    /// What confirms it in place of a reply, and how often: one push per channel.
    confirmations: Option<(Vec<u8>, usize)>,
}

impl Dialogue {
    /// Whether this is a replica's link to its master. It carries a stream instead of replies, and it is spared
    /// all faults: replicas come through the proxy only because its port is the one the cluster announces.
    pub(crate) fn replicates(&self) -> bool {
        self.replicates
    }

    /// The user that has just logged in, if there is one.
    pub(crate) fn take_user(&mut self) -> Option<Vec<u8>> {
        self.user.take()
    }

    /// Moves complete requests from `input` to `output`.
    pub(crate) fn requests(
        &mut self,
        rules: &Rules,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Next {
        while let Some(mut frame) = self.next_frame(input) {
            let cut = rules.judge(&frame);
            match cut {
                Some(Cut::Before) => return Next::Cut,
                Some(Cut::Keep) => return Next::Keep(frame),
                Some(Cut::Mute) => return Next::Mute,
                Some(Cut::After) | None => {}
            }
            self.note(&frame, cut == Some(Cut::After));
            increment(&rules.count.requests);
            rules.alter(&mut frame);
            output.extend(frame);
        }
        Next::GoOn
    }

    /// Moves complete replies and pushes from `input` to `output`.
    pub(crate) fn replies(
        &mut self,
        rules: &Rules,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Next {
        while let Some(frame) = self.next_frame(input) {
            let kind = self.push_kind(&frame);
            let weather = *rules.weather.borrow();
            let dropped = weather.drop_pushes || weather.drop_revokes && is_revoke(&frame);
            if kind.as_deref().is_some_and(is_message) && dropped {
                increment(&rules.count.dropped_pushes);
                continue;
            }
            if kind.is_some() && !self.confirms(kind.as_deref()) {
                increment(&rules.count.pushes);
            } else {
                if self.settle(kind.is_some()) {
                    return Next::Cut;
                }
                increment(&rules.count.replies);
            }
            output.extend(frame);
        }
        Next::GoOn
    }

    /// The next complete frame; all there is, if it is not RESP.
    fn next_frame(&self, input: &mut Vec<u8>) -> Option<Vec<u8>> {
        let len = if self.replicates {
            input.len()
        } else {
            frame_len(input).map_or(input.len(), Option::unwrap_or_default)
        };
        (len > 0).then(|| input.drain(..len).collect())
    }

    fn note(&mut self, request: &[u8], cut_after: bool) {
        let words = words(request, usize::MAX);
        let name = words.first().map(|name| name.to_ascii_lowercase());
        let name = name.unwrap_or_default();
        self.replicates |= name == b"psync";
        if let Some(user) = user(&name, &words) {
            self.user = Some(user.to_vec());
        }
        let confirmations = is_confirmation(&name).then(|| {
            self.subscribed = true;
            (name, words.len().saturating_sub(1).max(1))
        });
        self.waiting.push_back(Request {
            cut_after,
            confirmations,
        });
    }

    /// The kind of a push; with RESP2, pub/sub comes as ordinary arrays.
    fn push_kind(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let kind = || words(frame, 1).first().map(|kind| kind.to_vec());
        match frame[0] {
            b'>' => Some(kind().unwrap_or_default()),
            b'*' if self.subscribed => {
                kind().filter(|kind| is_message(kind) || is_confirmation(kind))
            }
            _ => None,
        }
    }

    /// Whether a push of this kind answers the oldest request.
    fn confirms(&self, kind: Option<&[u8]>) -> bool {
        let expected = self
            .waiting
            .front()
            .and_then(|request| request.confirmations.as_ref());
        expected.map(|(expected, _)| expected.as_slice()) == kind
    }

    /// The oldest request is answered, at least in part; tells whether its answer is to be lost.
    fn settle(&mut self, by_push: bool) -> bool {
        let Some(request) = self.waiting.front_mut() else {
            return false;
        };
        if let Some((_, left)) = &mut request.confirmations
            && by_push
            && *left > 1
        {
            *left -= 1;
            return request.cut_after;
        }
        self.waiting
            .pop_front()
            .is_some_and(|request| request.cut_after)
    }
}

/// The user that a request logs in: `AUTH user password`, or `HELLO 3 AUTH user password`.
fn user<'w>(name: &[u8], words: &[&'w [u8]]) -> Option<&'w [u8]> {
    match (name, words) {
        (b"auth", [_, user, _]) => Some(user),
        (b"hello", [_, _, auth, user, ..]) if auth.eq_ignore_ascii_case(b"auth") => Some(user),
        _ => None,
    }
}

/// Whether a message names a hold that lingers, and nothing else.
fn is_revoke(message: &[u8]) -> bool {
    words(message, 3)
        .last()
        .is_some_and(|word| word.ends_with(b"~"))
}

fn is_message(kind: &[u8]) -> bool {
    matches!(kind, b"message" | b"pmessage" | b"smessage")
}

fn is_confirmation(name: &[u8]) -> bool {
    name.strip_suffix(b"subscribe")
        .is_some_and(|stem| matches!(stem, b"" | b"p" | b"s" | b"un" | b"pun" | b"sun"))
}
