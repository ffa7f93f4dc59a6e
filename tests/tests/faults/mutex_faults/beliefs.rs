//! What clients make of answers and messages.

use dlock::__internals::{Extent, Message, Op, Reply};
use dlock_tests::Outcome;

use crate::mutex_faults::act::{ACTORS, id, kind, nonce};
use crate::mutex_faults::world::{Sent, World};

impl World {
    pub(crate) fn take(&mut self, sent: &Sent, outcome: &Outcome) -> Result<(), String> {
        self.fields.clone_from(&outcome.fields);
        self.held.clone_from(&outcome.held);
        self.kept = outcome.kept;
        self.for_ever &= outcome.kept.is_none() && !self.fields.is_empty();
        if let Some(actor) = sent.act.actor() {
            self.take_answer(actor, &sent.op, &outcome.answer)?;
        }
        for told in &outcome.told {
            let Message::Granted {
                hold,
                nonce: of,
                token,
            } = &told.message
            else {
                continue;
            };
            if told.channel.starts_with("note") || !told.record.starts_with('w') {
                return Err(format!("a grant that is not recorded: {told:?}"));
            }
            let actor = (0..ACTORS).find(|actor| id(*actor) == *hold);
            let actor = actor.ok_or("a grant to a stranger")?;
            if told.heard && *of == nonce(actor) && self.waiting.remove(&actor) {
                self.believe(actor, token.as_u64())?;
            }
        }
        Ok(())
    }

    fn take_answer(
        &mut self,
        actor: usize,
        op: &Op,
        answer: &Result<Reply, String>,
    ) -> Result<(), String> {
        // A client that gives something up does not believe in it any more, whatever comes of it.
        match op {
            Op::Release { .. } | Op::Abandon { .. } => {
                self.believers.remove(&actor);
                self.waiting.remove(&actor);
            }
            Op::Renew {
                extent: Extent::Exactly { .. },
                ..
            } => {
                self.believers.remove(&actor);
                self.ended.insert(actor);
            }
            _ => {}
        }
        match (op, answer) {
            (Op::Acquire { .. }, Ok(Reply::Granted(token))) => {
                self.waiting.remove(&actor);
                self.believe(actor, token.as_u64())?;
            }
            (Op::Acquire { .. }, Ok(Reply::Queued { .. })) => {
                self.waiting.insert(actor);
            }
            (Op::Renew { .. }, Ok(Reply::Done)) => {
                let until = self.held.as_ref().and_then(|held| held.until);
                if let (Some(believed), Some(until)) = (self.believers.get_mut(&actor), until) {
                    *believed = until;
                }
            }
            (Op::Renew { .. }, Ok(Reply::Gone)) => {
                self.believers.remove(&actor);
            }
            _ => {}
        }
        Ok(())
    }

    /// A client has been told of a grant.
    fn believe(&mut self, actor: usize, token: u64) -> Result<(), String> {
        // If there is none, the judge will say so.
        let until = self.held.as_ref().and_then(|held| held.until);
        self.believers.insert(actor, until.unwrap_or(u64::MAX));
        if kind(actor).has_tokens() {
            let others = (0..ACTORS).filter(|other| *other != actor && kind(*other).has_tokens());
            let largest = others.map(|other| self.tokens[other]).max().unwrap_or(0);
            if token <= largest || token < self.tokens[actor] {
                return Err(format!("{token} after {:?}", self.tokens));
            }
            self.tokens[actor] = token;
        }
        Ok(())
    }
}
