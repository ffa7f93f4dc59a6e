//! A hold, after its grant: renewing it, having members record it that lack it, and giving it back or its end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::fan::{Fan, answer};
use super::ledger::{Entry, acquire};
use super::member::{Asking, Member};
use super::members::Members;
use super::outbox::{About, Letter};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant, sleep, timeout_at};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::protocol::{Extent, HoldId, Op, Reply, Stray, validity};
use crate::random;
use crate::store::Answer;
use crate::tasks;

/// Between the tries to have a member record a hold: the first, and the longest.
const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(100);

impl Quorum {
    /// Renewed if a majority says so; lost if the members that still have the hold are no majority. Otherwise the outcome is
    /// unknown, and the holder asks again until its own deadline.
    pub(super) async fn renew(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
        lease: Duration,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let op = Op::Renew {
            hold: hold.clone(),
            lease,
            extent: Extent::Longer,
        };
        // A renewal is worth as much whenever it is answered: its time counts from when it was sent.
        let patience = self
            .patience(lease)
            .max(lease / 6)
            .min(self.response_timeout);
        let fit = self
            .fit_majority(key.slot(), deadline.min(Instant::now() + patience))
            .await;
        let until = deadline.min(Instant::now() + patience);
        let entry = self.ledger.get(hold);
        let asked = entry.map_or(Members::first(self.members.len()), |entry| entry.asked);
        let mut fan = Fan::new(self, key, hold, false);
        for member in &self.members {
            let number = member.number;
            if !asked.has(number) {
                fan.pass_by(number);
            } else if fit.has(number) {
                fan.ask(number, member.ask(key, op.clone(), until));
            } else {
                fan.give_up_on(number, member.excuse());
            }
        }
        let reply = fan.decide().await;
        let answer = fan.answer(reply)?;
        if answer.reply == Reply::Done && self.ledger.extend(hold, BootInstant::now()) {
            tasks::spawn(mend(fan));
        }
        Ok(answer)
    }

    /// Has members record a hold that they lack, until they do, or do not answer: so servers that are replaced by empty ones,
    /// one after the other, do not use it up. Each renewal begins anew.
    pub(super) async fn mend(
        &self,
        key: &LockKey,
        hold: &HoldId,
        lacking: Members,
        since: BootInstant,
    ) {
        let each = |number| self.mend_at(key, hold, number, since);
        join_all(lacking.iter().map(each)).await;
    }

    async fn mend_at(&self, key: &LockKey, hold: &HoldId, number: usize, since: BootInstant) {
        let member = &self.members[number];
        let Some(entry) = self.ledger.get(hold) else {
            return;
        };
        let until = since + entry.lease / 3;
        let mut span = SHORTEST;
        loop {
            // Attempts of others come and go there, and a hold may be over before it is worth the trouble.
            sleep(span.mul_f64(random::f64() + 0.5)).await;
            span = (2 * span).min(LONGEST);
            let now = BootInstant::now();
            if now >= until || !member.is_fit(key.slot()) {
                return;
            }
            if !self.record_at(key, hold, member).await {
                return;
            }
        }
    }

    /// It is an acquire like any other: a member where others hold refuses. Whether to try again: that, or no answer in time.
    async fn record_at(&self, key: &LockKey, hold: &HoldId, member: &Arc<Member>) -> bool {
        let number = member.number;
        // Noted before it is sent: a release that comes now knows that it may arrive behind it.
        let Some(entry) = self.ledger.ask_again(hold, number) else {
            return false;
        };
        let until = Instant::now() + self.patience(entry.lease);
        let acquire = acquire(hold, &entry);
        let Ok(answer) = member.call(key, &acquire, until).await else {
            return true;
        };
        let granted = matches!(answer.reply, Reply::Granted(_));
        self.ledger.answered(hold, number, granted, !answer.resent);
        if answer.reply == Reply::Gone {
            // An operator has ended the hold.
            return false;
        }
        let Reply::Granted(named) = answer.reply else {
            return true;
        };
        if let Some(token) = entry.token
            && named < token
            && entry.mode == LockMode::Write
            && key.kind().has_tokens()
        {
            let raise = Op::Raise {
                hold: hold.clone(),
                token,
            };
            if member.call(key, &raise, until).await.is_err() {
                let ahead = Duration::from_micros(token.as_u64() - named.as_u64());
                self.saw_apart(ahead);
                self.tell_later(number, key, raise);
            }
        }
        false
    }
}

/// Hears the rest, and mends the hold.
async fn mend(mut fan: Fan) {
    while fan.hear().await {}
    let (quorum, since) = (&fan.quorum, fan.sent_at);
    quorum.mend(&fan.key, &fan.id, fan.without, since).await;
}

/// The end of a hold, sent to all members that may have it. Members that have not answered when this is dropped are sent it in
/// the background, for as long as the hold could last there.
struct Ending {
    fan: Fan,
    op: Op,
    entry: Entry,
    /// The members that are sent the release right behind an acquire.
    behind: Members,
    /// Whether a majority has answered, so that the caller does not ask again.
    decided: bool,
}

impl Quorum {
    /// Carries out a release, an abandon, or a renewal that gives a hold its end.
    pub(super) async fn end(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
        op: &Op,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let patience = Instant::now() + self.response_timeout;
        self.fit_majority(key.slot(), deadline.min(patience)).await;
        let known = match op {
            Op::Release { .. } => self.ledger.end(hold),
            _ => self.ledger.end_noted(hold),
        };
        let entry = known.unwrap_or_else(|| self.stranger(key, op));
        let mut ending = Ending {
            fan: Fan::new(self, key, hold, true),
            op: op.clone(),
            entry,
            behind: Members::default(),
            decided: false,
        };
        ending.begin(deadline);
        let reply = ending.fan.decide().await;
        ending.decided = reply.is_some();
        let answer = ending.fan.answer(reply);
        if ending.decided {
            tasks::spawn(async move { while ending.fan.hear().await {} });
        }
        answer
    }

    /// Waits until what is to be undone has been, where that can be: an acquire that was given up is no hold yet, and its
    /// attempts undo themselves.
    pub(super) async fn undone(&self, deadline: Instant) -> Answer {
        let sent_at = BootInstant::now();
        let all = async {
            for member in &self.members {
                member.delivered().await;
            }
        };
        let _ = timeout_at(deadline, all).await;
        answer(Reply::Done, sent_at)
    }

    /// A hold of another client may be anywhere.
    fn stranger(&self, key: &LockKey, op: &Op) -> Entry {
        let lease = match op {
            Op::Release { lease, .. } | Op::Renew { lease, .. } => *lease,
            _ => validity(self.response_timeout),
        };
        let mut entry = Entry::new(LockMode::Write, lease, None);
        entry.asked = Members::first(self.members.len());
        if key.kind() == LockKind::Rw {
            // Its client may be recording it at members again. (The value of a mutex may belong to any program, and come again.)
            entry.open = entry.asked;
        }
        entry
    }
}

impl Ending {
    fn begin(&mut self, deadline: Instant) {
        let quorum = Arc::clone(&self.fan.quorum);
        let slot = self.fan.key.slot();
        self.fan.count.yes = self.entry.freed.count();
        self.fan.doubtful = self.entry.open;
        for member in &quorum.members {
            let number = member.number;
            if self.entry.freed.has(number) {
                continue;
            }
            if !self.entry.asked.has(number) {
                self.fan.pass_by(number);
            } else if member.is_fit(slot) {
                let asking = if self.relies_on(number) {
                    self.behind.put(number);
                    self.ask_behind(number, deadline)
                } else {
                    member.ask(&self.fan.key, self.op_for(number), deadline)
                };
                self.fan.ask(number, asking);
            } else {
                self.fan.give_up_on(number, member.excuse());
            }
        }
    }

    /// Whether the acquire is ahead of this on its way to a member, as far as the ledger knows.
    fn relies_on(&self, member: usize) -> bool {
        matches!(self.op, Op::Release { .. }) && self.entry.is_ahead_at(member)
    }

    /// Tells a member just to undo the acquire that is ahead, which costs it least. If it does not have the hold then, the
    /// acquire may still come, and is to have no effect.
    fn ask_behind(&self, member: usize, deadline: Instant) -> Asking<Result<Answer, Error>> {
        let Fan {
            quorum, key, id, ..
        } = &self.fan;
        let asking = quorum.members[member].ask(key, self.op.clone(), deadline);
        let (quorum, key, id) = (Arc::clone(quorum), key.clone(), id.clone());
        let lease = self.entry.lease;
        Box::pin(async move {
            let told = asking.await;
            if let (_, Ok(answer)) = &told
                && answer.reply == Reply::Gone
            {
                let one = Members::only(member);
                quorum.forget_at(one, one, &key, &id, lease);
            }
            told
        })
    }

    /// The operation for a member: with a tombstone where an acquire may still arrive.
    fn op_for(&self, member: usize) -> Op {
        let mut op = self.op.clone();
        if self.entry.open.has(member)
            && let Op::Release { stray, .. }
            | Op::Abandon { stray, .. }
            | Op::Renew {
                extent: Extent::Exactly { stray },
                ..
            } = &mut op
        {
            *stray = Stray::Possible;
        }
        op
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Fan {
            quorum,
            key,
            id,
            silent,
            without,
            ..
        } = &self.fan;
        let lease = self.entry.lease + 2 * validity(quorum.response_timeout);
        for number in silent.iter() {
            let letter = Letter {
                key: key.clone(),
                op: self.op_for(number),
                until: BootInstant::now() + lease,
            };
            quorum.members[number].post(About::End(id.clone()), letter);
        }
        if !self.entry.ended {
            let heard = self.behind.without(*silent);
            let strays = self.entry.open.without(heard);
            let rest = match self.op {
                Op::Renew { lease, .. } => lease,
                _ => Duration::ZERO,
            };
            quorum.look_again(strays, key, id, self.entry.lease, rest);
        }
        if !self.decided {
            let mut entry = self.entry.clone();
            let freed = entry.asked.without(*silent).without(*without);
            entry.freed = entry.freed.and(freed);
            entry.asked = *silent;
            quorum.ledger.end_later(id, entry, self.behind.count() > 0);
        }
    }
}
