//! Renewing a hold.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::acquire;
use super::fan::Fan;
use super::members::Members;
use super::quorum::Quorum;
use crate::clock::{BootInstant, Instant};
use crate::error::Error;
use crate::key::LockKey;
use crate::mode::Mode;
use crate::protocol::{Extent, HoldId, Op, Reply};
use crate::store::Answer;
use crate::tasks;

impl Quorum {
    /// Renewed if a majority says so, lost if so many have it no more that the rest is none. Otherwise nobody knows, and
    /// the holder asks again until its own deadline.
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
        let until = deadline.min(Instant::now() + self.patience(lease));
        let entry = self.ledger.get(hold);
        let asked = entry.map_or(Members::first(self.members.len()), |entry| entry.asked);
        let mut fan = Fan::new(self, key, hold, false);
        let worth = self.worth_asking(BootInstant::now());
        for member in &self.members {
            let number = member.number;
            if !asked.has(number) {
                fan.pass_by(number);
            } else if worth.has(number) {
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

    /// Has a member record a hold that a majority has renewed: so servers that are replaced by empty ones, one after the
    /// other, do not use it up. It is an acquire like any other: a member where others hold refuses.
    async fn mend(&self, key: &LockKey, hold: &HoldId, number: usize) {
        let member = &self.members[number];
        if !member.is_worth_asking(BootInstant::now()) {
            return;
        }
        // Noted before it is sent: a release that comes now knows that it may arrive behind it.
        let Some(entry) = self.ledger.ask_again(hold, number) else {
            return;
        };
        let until = Instant::now() + self.patience(entry.lease);
        let acquire = acquire(hold, &entry);
        let Ok(answer) = member.call(key, &acquire, until).await else {
            return;
        };
        let granted = matches!(answer.reply, Reply::Granted(_));
        self.ledger.answered(hold, number, granted, !answer.resent);
        if let (Reply::Granted(named), Some(token)) = (answer.reply, entry.token)
            && named < token
            && entry.mode == Mode::Write
        {
            let raise = Op::Raise {
                hold: hold.clone(),
                token,
            };
            let _ = member.call(key, &raise, until).await;
        }
    }
}

/// Hears the rest, and mends the hold.
async fn mend(mut fan: Fan) {
    while fan.hear().await {}
    for number in fan.without.iter() {
        fan.quorum.mend(&fan.key, &fan.id, number).await;
    }
}
