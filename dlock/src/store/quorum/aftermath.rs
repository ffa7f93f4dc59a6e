//! What an attempt leaves to be done, whether it has won or not.

use std::sync::Arc;

use futures_util::StreamExt;

use super::attempt::{Attempt, Outcome, Requests};
use crate::clock::{BootInstant, Instant};
use crate::protocol::Stray;
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
        self.quorum.pauses.calm(self.key.slot());
        let id = self.id.clone();
        self.linger(requests);
        Outcome::Won { id, token, sent_at }
    }

    /// Others go first: whoever has granted it is told at once, the rest when they have answered.
    pub(super) fn lose(self, requests: Requests) {
        self.forget_granted();
        self.linger(requests);
    }

    fn forget_granted(&self) {
        let ledger = &self.quorum.ledger;
        if let Some(entry) = ledger.get(&self.id) {
            let granted = ledger.take_granted(&self.id);
            let none = |_| Stray::None;
            self.quorum
                .forget_at(granted, &self.key, &self.id, &entry, none);
        }
    }

    /// Hears the rest in the background.
    fn linger(mut self, mut requests: Requests) {
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
                quorum.mend(&key, &id, holding).await;
            }
        });
    }

    /// Who could not be told the token is told later.
    fn tell_later(&self) {
        let Some(op) = self.raise() else {
            return;
        };
        let (unsure, ahead) = self.grants.unsure();
        for number in unsure.iter() {
            self.quorum.tell_later(number, &self.key, op.clone(), ahead);
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.kept {
            self.tell_later();
            return;
        }
        if let Some(entry) = self.quorum.ledger.end(&self.id) {
            let stray = |member| {
                if entry.open.has(member) {
                    Stray::Possible
                } else {
                    Stray::None
                }
            };
            self.quorum
                .forget_at(entry.asked, &self.key, &self.id, &entry, stray);
        }
    }
}
