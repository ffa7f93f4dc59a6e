//! Giving a hold back, or its end.

use std::sync::Arc;
use std::time::Duration;

use super::fan::{Fan, answer};
use super::ledger::Entry;
use super::member::Asking;
use super::members::Members;
use super::outbox::{About, Letter};
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant, timeout_at};
use crate::error::Error;
use crate::key::LockKey;
use crate::kind::LockKind;
use crate::mode::LockMode;
use crate::protocol::{Extent, HoldId, Op, Reply, Stray, validity};
use crate::store::Answer;
use crate::tasks;

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
