//! Which members an attempt asks, in which order, and how long it waits for their answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;

use super::attempt::{Attempt, Heard, Outcome, Requests, Want, hear};
use super::ledger::acquire;
use super::members::{Count, Members, majority};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant, sleep, timeout_at};
use crate::lease::margin;
use crate::metrics;
use crate::random;

/// How much longer than usual an answer may take of which others are to make up for.
const HASTE: u32 = 4;
/// By how much longer than the others the last members may take to answer, at least.
const SLACK: Duration = Duration::from_millis(1);
/// How much longer a member may take that has granted the lock and is sent the token.
const LONG_SLACK: Duration = Duration::from_millis(20);

/// How often, and after which pause, members are asked again that have refused although the one where attempts meet has
/// granted.
const TRIES: u32 = 3;
const AGAIN: Duration = Duration::from_millis(2);

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

impl Attempt {
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

    /// No other attempt gets past the member where attempts meet. So the members that have refused have not yet received the
    /// release of the previous holder, or the end of an attempt that has lost. The attempt asks these members again, and no others.
    fn ask_again(&mut self, requests: &Requests, want: &Want, deadline: Instant) {
        self.tries -= 1;
        let refused = self.grants.take_holding();
        self.quorum.ledger.ask(&self.id, refused);
        let until = deadline.min(Instant::now() + self.quorum.patience(self.lease));
        for number in refused.iter() {
            self.count.no -= 1;
            self.awaited.put(number);
            let op = acquire(&self.id, &want.entry);
            let asking = self.quorum.members[number].ask(&self.key, op, until);
            let pause = AGAIN.mul_f64(0.5 + random::f64());
            let later = Box::pin(async move {
                sleep(pause).await;
                asking.await
            });
            requests.push(hear(later, Heard::Acquire));
        }
    }
}
