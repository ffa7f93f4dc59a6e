//! One try to get the lock.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::count::Count;
use super::count::TRIES;
use super::grants::Grants;
use super::ledger::Entry;
use super::member::Asking;
use super::members::{Members, majority};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant, timeout_at};
use crate::error::Error;
use crate::key::LockKey;
use crate::lease::margin;
use crate::metrics;
use crate::mode::LockMode;
use crate::protocol::{HoldId, Op, Reply};
use crate::store::Answer;
use crate::token::ServerToken;

/// How much longer than usual an answer may take of which others are to make up for.
const HASTE: u32 = 4;
/// By how much longer than the others the last members may take to answer, at least.
const SLACK: Duration = Duration::from_millis(1);
/// How much longer a member may take that has granted the lock and is sent the token.
const LONG_SLACK: Duration = Duration::from_millis(20);

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
    pub(super) kept: bool,
    /// How many more times it may ask the members again that have refused.
    pub(super) tries: u32,
}

/// Sends to all members that answer at once. Under contention it asks one member first, the same for all clients, and
/// the rest if that one grants: attempts that ask all members at once get some each, and all have to withdraw.
pub(super) async fn attempt(
    quorum: &Arc<Quorum>,
    want: &Want,
    meets: bool,
    deadline: Instant,
) -> Outcome {
    let (slot, lease) = (want.key.slot(), want.entry.lease);
    let fit = quorum.fit_majority(slot, deadline.min(Instant::now() + quorum.patience(lease)));
    let fit = fit.await;
    let (sent, sent_at) = (Instant::now(), BootInstant::now());
    let mut attempt = Attempt::new(quorum, want);
    for member in &quorum.members {
        if !fit.has(member.number) {
            attempt.count.failed(member.excuse());
        }
    }
    let mut requests = Requests::new();
    let mut rest = fit;
    if fit.count() < majority(quorum.members.len()) {
        rest = Members::default();
        attempt.count.spared = fit.count();
    } else if meets {
        let Some(unasked) = attempt.meet(&mut requests, want, fit, deadline).await else {
            return Outcome::Lost {
                held: true,
                took: Instant::now() - sent,
                holding: None,
            };
        };
        rest = unasked;
    }
    attempt.ask(&requests, want, rest, deadline);
    let (requests, won) = attempt.follow(requests, want, deadline).await;
    if won && BootInstant::now() < sent_at + lease.saturating_sub(margin(lease)) {
        return attempt.win(requests, sent_at);
    }
    let count = std::mem::replace(&mut attempt.count, Count::of(quorum.members.len()));
    let holding = attempt.grants.holding();
    if !won && count.is_held() {
        // A majority with holds that end at different times says nothing.
        attempt.learn_astray(attempt.grants.of_one_hold().unwrap_or(holding));
    }
    attempt.lose(requests);
    if !won && count.is_answered() {
        return Outcome::Lost {
            held: count.is_held(),
            took: Instant::now() - sent,
            holding: Some(holding),
        };
    }
    let (error, hopeless) = count.into_error();
    Outcome::Unanswered { error, hopeless }
}

/// The request to each member. Members keep no line: the first waiter at one member is not the first at another.
pub(super) fn acquire(id: &HoldId, entry: &Entry) -> Op {
    Op::Acquire {
        hold: id.clone(),
        mode: entry.mode,
        lease: entry.lease,
        owner: entry.owner.clone(),
        place: None,
    }
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
    fn new(quorum: &Arc<Quorum>, want: &Want) -> Self {
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

    /// Asks the member where attempts meet before all others. If it refuses, it has the lock's hold; or that of a contender
    /// that has died while it asked, so the others are asked as well if that hold stays the same, one by one, until one grants.
    /// The members to ask next; none if the lock is held.
    async fn meet(
        &mut self,
        requests: &mut Requests,
        want: &Want,
        fit: Members,
        deadline: Instant,
    ) -> Option<Members> {
        let quorum = Arc::clone(&self.quorum);
        let mut unasked = fit;
        while let Some(next) = quorum.meeting_point(&want.key, unasked) {
            unasked.take(next);
            self.ask(requests, want, Members::only(next), deadline);
            // A member that is slow now is not waited for.
            let soon = Instant::now() + HASTE * (quorum.members[next].health.pace() + SLACK);
            let refusals = self.count.no;
            if let Ok(Some(heard)) = timeout_at(soon, requests.next()).await {
                self.take(heard);
            }
            if self.count.no == refusals {
                break;
            }
            let end = self.grants.end(next).filter(|_| refusals == 0);
            if end.is_some_and(|end| !quorum.refusals.doubts(&want.key, end)) {
                return None;
            }
            // The rest may lack the lock's hold, which its holder is about to record there. A member that had another hold is
            // asked all the same: that hold may be over.
            let known = unasked.common(quorum.refusals.astray(&want.key));
            if self.grants.of_one_hold().is_some() && known.count() == 0 {
                break;
            }
        }
        if self.count.is_vain() {
            if let Some(members) = self.grants.of_one_hold() {
                self.learn_astray(members);
            }
            return None;
        }
        if self.count.no > 0 && self.count.yes > 0 {
            quorum.refusals.are_astray(&want.key, self.grants.holding());
        }
        self.tries = if self.count.yes > 0 { TRIES } else { 0 };
        Some(unasked)
    }

    /// Another client holds the lock, and these members have its hold: attempts do not meet at members with another hold.
    fn learn_astray(&self, members: Members) {
        let astray = self.grants.holding().without(members);
        self.quorum.refusals.are_astray(&self.key, astray);
    }

    /// Asks these members for the lock.
    fn ask(&mut self, requests: &Requests, want: &Want, members: Members, deadline: Instant) {
        self.quorum.ledger.ask(&self.id, members);
        let until = deadline.min(Instant::now() + self.quorum.patience(self.lease));
        let op = acquire(&self.id, &want.entry);
        for number in members.iter() {
            self.awaited.put(number);
            let asking = self.quorum.members[number].ask(&self.key, op.clone(), until);
            requests.push(hear(asking, Heard::Acquire));
        }
    }

    /// Runs until the attempt is decided; whether it has won. The other requests continue. If the answers of a majority decide
    /// nothing, other clients want the lock, too. Then the attempt waits for the rest no longer than it has waited for the
    /// majority: a slow or silent member does not keep the members that have granted it from all other clients.
    async fn follow(
        &mut self,
        mut requests: Requests,
        want: &Want,
        deadline: Instant,
    ) -> (Requests, bool) {
        let majority = majority(self.quorum.members.len());
        let patience = self.quorum.patience(self.lease);
        let begun = Instant::now();
        let (mut second, mut limit) = (None, deadline);
        while let Ok(Some(heard)) = timeout_at(limit, requests.next()).await {
            let told = self.take(heard);
            let now = Instant::now();
            if self.grants.token.is_some() {
                if second.is_none() {
                    second = Some(BootInstant::now());
                    limit = deadline.min(now + HASTE * (now - begun + LONG_SLACK));
                }
                self.tell_token(&requests, told, deadline.min(now + patience));
                if self.grants.remembering() >= majority {
                    if let Some(second) = second {
                        metrics::command("raise", second);
                    }
                    return (requests, true);
                }
            } else if self.count.is_answered() {
                // Without an answer of a majority it would not be known whether there is one at all.
                let took = now - begun;
                if !self.count.is_vain() {
                    limit = limit.min(now + took + SLACK);
                } else if self.tries == 0 || self.count.is_held() {
                    break;
                } else {
                    self.ask_again(&requests, want, deadline);
                    limit = deadline.min(now + took + LONG_SLACK);
                }
            }
        }
        (requests, false)
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
}
