//! One try to get the lock, under an id of its own: what it asks, what it hears, and what it leaves to be done.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::grants::Grants;
use super::ledger::{Entry, acquire};
use super::member::Asking;
use super::members::{Count, Members};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::LockMode;
use crate::protocol::{HoldId, Op, Reply};
use crate::store::Answer;
use crate::tasks;
use crate::token::ServerToken;

/// The lock and the mode that an attempt requests.
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
        /// Whether another client holds the lock. Otherwise several contenders have divided the members among them.
        held: bool,
        took: Duration,
        /// The members where other clients hold it, if known.
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
    pub(super) count: Count,
    pub(super) grants: Grants,
    /// The members that have not answered the acquire.
    pub(super) awaited: Members,
    kept: bool,
    /// How many more times it may ask the members again that have refused.
    pub(super) tries: u32,
}

pub(super) fn hear(
    asking: Asking<Result<Answer, Error>>,
    kind: fn(usize, Result<Answer, Error>) -> Heard,
) -> std::pin::Pin<Box<dyn Future<Output = Heard> + Send>> {
    Box::pin(async move {
        let (member, outcome) = asking.await;
        kind(member, outcome)
    })
}

impl Attempt {
    pub(super) fn new(quorum: &Arc<Quorum>, want: &Want) -> Self {
        let members = quorum.members.len();
        let fences = want.entry.mode == LockMode::Write && want.key.kind().has_tokens();
        let id = quorum.next_attempt();
        quorum
            .ledger
            .begin(&id, want.entry.clone(), BootInstant::now());
        Self {
            quorum: Arc::clone(quorum),
            key: want.key.clone(),
            id,
            lease: want.entry.lease,
            count: Count::of(members),
            grants: Grants::new(members, fences),
            awaited: Members::default(),
            kept: false,
            tries: 0,
        }
    }

    /// Asks these members for the lock.
    pub(super) fn ask(
        &mut self,
        requests: &Requests,
        want: &Want,
        members: Members,
        deadline: Instant,
    ) {
        self.quorum.ledger.ask(&self.id, members);
        let until = deadline.min(Instant::now() + self.quorum.patience(self.lease));
        let op = acquire(&self.id, &want.entry);
        for number in members.iter() {
            self.awaited.put(number);
            let asking = self.quorum.members[number].ask(&self.key, op.clone(), until);
            requests.push(hear(asking, Heard::Acquire));
        }
    }

    /// Processes an answer; returns the members that must be sent the token.
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
                let (granted, end) = match answer.reply {
                    Reply::Granted(token) => (Some(token), None),
                    Reply::Busy(left) => (None, Some(Instant::now() + left)),
                    _ => (None, None),
                };
                self.quorum
                    .ledger
                    .answered(&self.id, member, granted.is_some(), !answer.resent);
                self.heard(member, answer.resent);
                let Some(token) = granted else {
                    self.count.no += 1;
                    return self.grants.refused(member, end);
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
    fn raise(&self) -> Option<Op> {
        let token = self.grants.token?;
        let hold = self.id.clone();
        Some(Op::Raise { hold, token })
    }

    /// The lock is held. The requests under way continue, so that their members record the hold, too.
    pub(super) fn win(mut self, requests: Requests, sent_at: BootInstant) -> Outcome {
        let others = self.grants.take_refused();
        self.tell_token(
            &requests,
            others,
            Instant::now() + self.quorum.response_timeout,
        );
        let Some(token) = self.grants.token else {
            unreachable!("a majority has named it");
        };
        self.kept = true;
        self.quorum.ledger.won(&self.id, token);
        self.quorum.pauses.won(self.key.slot());
        let id = self.id.clone();
        self.linger(requests, sent_at);
        Outcome::Won { id, token, sent_at }
    }

    /// Another client goes first. The members that have granted are sent the end at once, the others when they have answered.
    pub(super) fn lose(self, requests: Requests) {
        self.forget_granted();
        self.linger(requests, BootInstant::now());
    }

    fn forget_granted(&self) {
        let ledger = &self.quorum.ledger;
        if let Some(entry) = ledger.get(&self.id) {
            let granted = ledger.take_granted(&self.id);
            let none = Members::default();
            self.quorum
                .forget_at(granted, none, &self.key, &self.id, entry.lease);
        }
    }

    /// Hears the rest in the background.
    fn linger(mut self, mut requests: Requests, since: BootInstant) {
        if requests.is_empty() && self.grants.holding().count() == 0 {
            return;
        }
        tasks::spawn(async move {
            while let Some(heard) = requests.next().await {
                let told = self.take(heard);
                if self.kept {
                    let until = Instant::now() + self.quorum.response_timeout;
                    self.tell_token(&requests, told, until);
                } else {
                    self.forget_granted();
                }
            }
            if self.kept {
                let (quorum, holding) = (Arc::clone(&self.quorum), self.grants.holding());
                let (key, id) = (self.key.clone(), self.id.clone());
                drop(self);
                quorum.mend(&key, &id, holding, since).await;
            }
        });
    }

    /// A member has answered the acquire, or will not any more; `open` if the acquire, or a duplicate of it, may still arrive.
    /// If the release relied on its order behind the acquire, the member is sent the end of the hold again, with a tombstone.
    fn heard(&mut self, member: usize, open: bool) {
        self.awaited.take(member);
        if open && self.quorum.ledger.unheard(&self.id, member) {
            let one = Members::only(member);
            self.quorum
                .forget_at(one, one, &self.key, &self.id, self.lease);
        }
    }

    /// Sends the token later to the members that could not be reached.
    fn tell_later(&self) {
        let Some(op) = self.raise() else {
            return;
        };
        self.quorum.saw_apart(self.grants.apart());
        for number in self.grants.unsure().iter() {
            self.quorum.tell_later(number, &self.key, op.clone());
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.kept {
            let awaited = self.awaited;
            awaited.iter().for_each(|member| self.heard(member, true));
            self.tell_later();
            return;
        }
        if let Some(entry) = self.quorum.ledger.end(&self.id) {
            let quorum = &self.quorum;
            quorum.forget_at(entry.asked, entry.open, &self.key, &self.id, entry.lease);
        }
    }
}
