//! Renewing a hold.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::attempt::acquire;
use super::fan::Fan;
use super::member::Member;
use super::members::Members;
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::Error;
use crate::key::LockKey;
use crate::mode::LockMode;
use crate::protocol::{Extent, HoldId, Op, Reply};
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
