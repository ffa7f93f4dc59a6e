//! What an attempt leaves to be done, whether it has won or not.

use std::sync::Arc;

use futures_util::StreamExt;

use super::attempt::{Attempt, Outcome, Requests};
use super::members::Members;
use crate::clock::{BootInstant, Instant};
use crate::tasks;

impl Attempt {
    /// The lock is held. What is still on its way is heard, so that those members hold it, too.
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

    /// Others go first: whoever has granted it is told at once, the rest when they have answered.
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

    /// A member has answered the acquire, or will not any more; `open` if it, or a copy of it, may still arrive there. If that
    /// was relied upon when the hold was given back, it is told now that it was.
    pub(super) fn heard(&mut self, member: usize, open: bool) {
        self.awaited.take(member);
        if open && self.quorum.ledger.unheard(&self.id, member) {
            let one = Members::only(member);
            self.quorum
                .forget_at(one, one, &self.key, &self.id, self.lease);
        }
    }

    /// Who could not be told the token is told later.
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
