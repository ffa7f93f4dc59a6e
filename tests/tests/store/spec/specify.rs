//! What the specification says.

use std::time::Duration;

use dlock::__internals::{Extent, Keys, Message, Op, Post, Reply, Script, ServerToken};
use dlock::LockKind;

use crate::spec::pair::{Answer, Pair};
use crate::spec::plan::Publish;
use crate::spec::request::{Request, piece};

/// For how long a string without an expiry is taken to stay.
const FOREVER: u64 = 3_600_000;

/// How often who waits without a line looks.
const POLL: Duration = Duration::from_millis(20);

impl Pair<'_> {
    /// What the specification says.
    pub(crate) fn specify(&mut self, request: &Request, publish: Publish, plain: bool) -> Answer {
        let by_string = match (&request.op, request.keys) {
            // A plain `SET`, which has no effect on a held mutex.
            (Op::Acquire { hold, lease, .. }, _)
                if plain
                    && request.kind == LockKind::Mutex
                    && (self.specification).take(&self.key, &hold.to_string(), Some(*lease)) =>
            {
                Some(Reply::Granted(ServerToken::new(0)))
            }
            // The brief script, for which a mark says that others may wait.
            (Op::Release { hold, .. }, _)
                if plain
                    && Script::brief(request.kind, &request.op).is_some()
                    && !self.held.as_ref().is_some_and(|held| held.marked)
                    && (self.specification).free(&self.key, &hold.to_string()) =>
            {
                Some(Reply::Done)
            }
            (_, Keys::First) => Some(self.specify_by_string(request)),
            _ => None,
        };
        if let Some(reply) = by_string {
            let told = Vec::new();
            return Answer { reply, told };
        }
        let (mut told, deaf) = (Vec::new(), &self.deaf);
        let letter = publish.letter(self.sharded);
        let heard = |client: &str| letter != "R" && !deaf.iter().any(|deaf| deaf == client);
        let mut deliver = |message: &Message| {
            let heard = heard(message.hold().client().as_str());
            if publish != Publish::Off {
                told.push((message.clone(), heard));
            }
            heard
        };
        let mut post = Post::new(&mut deliver).in_pieces_of(piece(self.pieces));
        if !matches!(letter, "S" | "s" | "P" | "p") {
            post = post.untrusted();
        }
        let mut op = request.op.clone();
        if letter == "R" {
            post = post.not_when_entering();
        } else if let Op::Acquire {
            place: Some(place), ..
        } = &mut op
        {
            // A client that publishes like that does not receive messages that are published otherwise.
            place.subscribed &= matches!(letter, "S" | "s" | "P" | "p");
        }
        let valid_until = request.valid_until;
        let key = self.key_of(request.kind);
        let reply = (self.specification).decide(key, &op, valid_until, &mut post);
        Answer { reply, told }
    }

    /// What becomes of a mutex where the hash beside it is not at hand: no queue, no notes, no messages.
    fn specify_by_string(&self, request: &Request) -> Reply {
        let (specification, key, time) = (&self.specification, &self.key, self.time());
        let holder = specification.holder(key);
        let is_mine = |id: &str| holder.as_ref().is_some_and(|(value, _)| value == id);
        match &request.op {
            Op::Acquire { .. } if request.valid_until < time => Reply::TooLate(time),
            Op::Acquire {
                hold, lease, place, ..
            } => {
                let id = hold.to_string();
                if is_mine(&id) {
                    self.lengthen(&id, *lease);
                    return Reply::Granted(ServerToken::new(0));
                }
                let Some((_, left)) = holder else {
                    specification.take(key, &id, Some(*lease));
                    return Reply::Granted(ServerToken::new(0));
                };
                let retry = Duration::from_millis(left.map_or(FOREVER, |left| left + 1));
                match place {
                    None => Reply::Busy(retry),
                    Some(_) => Reply::Queued {
                        retry: retry.min(POLL),
                        last: None,
                        now: time,
                    },
                }
            }
            Op::Release { hold, .. } | Op::Abandon { hold, .. } => {
                let id = hold.to_string();
                if is_mine(&id) && specification.free(key, &id) {
                    Reply::Done
                } else {
                    Reply::Gone
                }
            }
            Op::Renew { hold, .. } if !is_mine(&hold.to_string()) => Reply::Gone,
            Op::Renew {
                hold,
                lease,
                extent,
            } => {
                let id = hold.to_string();
                if *extent != Extent::Longer {
                    specification.free(key, &id);
                }
                self.lengthen(&id, *lease);
                Reply::Done
            }
            op => unreachable!("{op:?} has all keys"),
        }
    }

    /// What a script does to a string that stays as long as asked for, or longer.
    fn lengthen(&self, id: &str, lease: Duration) {
        let (specification, key) = (&self.specification, &self.key);
        let left = specification.holder(key).and_then(|(_, left)| left);
        let left = left.map_or(Duration::ZERO, Duration::from_millis);
        specification.free(key, id);
        specification.take(key, id, Some(lease.max(left)));
    }
}
