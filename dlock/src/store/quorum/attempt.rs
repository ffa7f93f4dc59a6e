//! One try to get the lock.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::count::Count;
use super::grants::Grants;
use super::ledger::Entry;
use super::member::Asking;
use super::members::{Members, majority};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::lease::margin;
use crate::metrics;
use crate::mode::Mode;
use crate::protocol::{HoldId, Op, Reply};
use crate::store::Answer;
use crate::token::ServerToken;

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) struct Want {
    pub(super) key: LockKey,
    pub(super) entry: Entry,
}

/// What became of an attempt.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A majority has granted it.
    Won {
        id: HoldId,
        token: ServerToken,
        sent_at: BootInstant,
    },
    /// A majority has answered, and some have not granted it.
    Lost {
        /// Whether somebody has the lock, rather than several who want it a part of the members each.
        held: bool,
        took: Duration,
        /// Those where others hold it, if it is known.
        holding: Option<Members>,
    },
    /// No majority has answered in time.
    Unanswered {
        error: Error,
        /// Whether there is no use in asking again.
        hopeless: bool,
    },
}

/// An answer, and which request it is to.
pub(super) enum Heard {
    Acquire(usize, Result<Answer, Error>),
    Raise(usize, Result<Answer, Error>),
}

pub(super) type Requests = FuturesUnordered<std::pin::Pin<Box<dyn Future<Output = Heard> + Send>>>;

/// An id under which the lock is asked for. Dropped, it is undone at all members that may have granted it or may still do so.
pub(super) struct Attempt {
    pub(super) quorum: Arc<Quorum>,
    pub(super) key: LockKey,
    pub(super) id: HoldId,
    pub(super) lease: Duration,
    count: Count,
    pub(super) grants: Grants,
    /// Those that have not answered the acquire.
    pub(super) awaited: Members,
    pub(super) kept: bool,
}

/// Asks all at once, or `first` one where somebody had it, and the rest if nobody has: who waits is not to occupy other
/// members again and again, from which the holder may just be missing.
pub(super) async fn attempt(
    quorum: &Arc<Quorum>,
    want: &Want,
    first: Option<usize>,
    deadline: Instant,
) -> Outcome {
    let (sent, sent_at) = (Instant::now(), BootInstant::now());
    let (members, lease) = (quorum.members.len(), want.entry.lease);
    let until = deadline.min(sent + quorum.patience(lease));
    let id = quorum.next_attempt();
    let worth = quorum.worth_asking(sent_at);
    let first = first.filter(|first| worth.has(*first));
    let asked = first.map_or(worth, Members::only);
    quorum.ledger.begin(&id, want.entry.clone(), asked, sent_at);
    let mut attempt = Attempt {
        quorum: Arc::clone(quorum),
        key: want.key.clone(),
        id,
        lease,
        count: Count::of(members),
        grants: Grants::new(
            members,
            want.entry.mode == Mode::Write && want.key.kind().has_tokens(),
        ),
        awaited: Members::default(),
        kept: false,
    };
    let (mut requests, mut rest) = (Requests::new(), worth);
    if let Some(first) = first {
        attempt.ask(&requests, &want.entry, asked, until);
        if let Some(heard) = requests.next().await {
            attempt.take(heard);
        }
        if attempt.count.no > 0 {
            let took = Instant::now() - sent;
            return Outcome::Lost {
                held: true,
                took,
                holding: None,
            };
        }
        rest.take(first);
        quorum.ledger.ask_more(&attempt.id, rest);
    }
    let until = deadline.min(Instant::now() + quorum.patience(lease));
    attempt.ask(&requests, &want.entry, rest, until);
    for member in &quorum.members {
        if !worth.has(member.number) {
            attempt.count.failed(member.excuse());
        }
    }
    let (requests, won) = attempt.follow(requests, deadline).await;
    if won && BootInstant::now() < sent_at + lease.saturating_sub(margin(lease)) {
        return attempt.win(requests, sent_at);
    }
    let count = std::mem::replace(&mut attempt.count, Count::of(members));
    let holding = attempt.grants.holding();
    attempt.lose(requests);
    if !won && count.is_answered() {
        let (held, took) = (count.is_held(), Instant::now() - sent);
        let holding = Some(holding);
        return Outcome::Lost {
            held,
            took,
            holding,
        };
    }
    let (error, hopeless) = count.into_error();
    Outcome::Unanswered { error, hopeless }
}

/// What each member is asked. There is no line at members: who is first at one is not at another.
pub(super) fn acquire(id: &HoldId, entry: &Entry) -> Op {
    Op::Acquire {
        hold: id.clone(),
        mode: entry.mode,
        lease: entry.lease,
        owner: entry.owner.clone(),
        place: None,
    }
}

fn hear(
    asking: Asking<Result<Answer, Error>>,
    kind: fn(usize, Result<Answer, Error>) -> Heard,
) -> std::pin::Pin<Box<dyn Future<Output = Heard> + Send>> {
    Box::pin(async move {
        let (member, outcome) = asking.await;
        kind(member, outcome)
    })
}

impl Attempt {
    /// Asks these members for the lock.
    fn ask(&mut self, requests: &Requests, entry: &Entry, members: Members, until: Instant) {
        let op = acquire(&self.id, entry);
        for number in members.iter() {
            self.awaited.put(number);
            let asking = self.quorum.members[number].ask(&self.key, op.clone(), until);
            requests.push(hear(asking, Heard::Acquire));
        }
    }

    /// Until it is decided; whether it has won. The other requests go on.
    async fn follow(&mut self, mut requests: Requests, deadline: Instant) -> (Requests, bool) {
        let majority = majority(self.quorum.members.len());
        let patience = self.quorum.patience(self.lease);
        let mut second = None;
        while let Some(heard) = requests.next().await {
            let told = self.take(heard);
            if self.grants.token.is_some() {
                if told.count() > 0 {
                    second.get_or_insert_with(BootInstant::now);
                }
                self.tell_token(&requests, told, deadline.min(Instant::now() + patience));
                if self.grants.remembering() >= majority {
                    if let Some(second) = second {
                        metrics::command("raise", second);
                    }
                    return (requests, true);
                }
            } else if self.count.is_vain() && self.count.is_answered() {
                // Otherwise it would not be known whether there is a majority at all.
                break;
            }
        }
        (requests, false)
    }

    /// Takes an answer in; to whom the token has to be told.
    pub(super) fn take(&mut self, heard: Heard) -> Members {
        let (member, outcome) = match heard {
            Heard::Raise(member, outcome) => {
                if let Ok(answer) = &outcome {
                    self.grants.raised(member, answer.reply == Reply::Done);
                }
                return Members::default();
            }
            Heard::Acquire(member, outcome) => (member, outcome),
        };
        match outcome {
            Ok(answer) => {
                let granted = match answer.reply {
                    Reply::Granted(token) => Some(token),
                    _ => None,
                };
                self.quorum
                    .ledger
                    .answered(&self.id, member, granted.is_some(), !answer.resent);
                self.heard(member, answer.resent);
                let Some(token) = granted else {
                    self.count.no += 1;
                    return self.grants.refused(member);
                };
                self.count.yes += 1;
                self.grants.granted(member, token, &self.count)
            }
            Err(error) => {
                self.heard(member, true);
                self.count.failed(error);
                Members::default()
            }
        }
    }

    /// The second round.
    pub(super) fn tell_token(&self, requests: &Requests, told: Members, until: Instant) {
        let Some(op) = self.raise() else {
            return;
        };
        for number in told.iter() {
            let asking = self.quorum.members[number].ask(&self.key, op.clone(), until);
            requests.push(hear(asking, Heard::Raise));
        }
    }

    /// What says the token, once there is one.
    pub(super) fn raise(&self) -> Option<Op> {
        let token = self.grants.token?;
        let hold = self.id.clone();
        Some(Op::Raise { hold, token })
    }
}
