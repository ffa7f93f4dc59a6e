//! What clients make of answers and messages.

use dlock::__internals::{Extent, Message, Op, Reply};
use dlock::LockMode;
use dlock_tests::Outcome;

use crate::script_faults::act::{id, nonce};
use crate::script_faults::kind::Kind;
use crate::script_faults::world::{Sent, World};

impl<K: Kind> World<K> {
    pub(crate) fn take(&mut self, sent: &Sent, outcome: &Outcome) -> Result<(), String> {
        self.fields.clone_from(&outcome.fields);
        self.held.clone_from(&outcome.held);
        self.kept = outcome.kept;
        self.for_ever &= outcome.kept.is_none() && !self.fields.is_empty();
        let record = K::record(self)?;
        if let Some(actor) = sent.act.actor() {
            self.take_answer(actor, &sent.op, &outcome.answer, &record)?;
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
            let actor = (0..K::ACTORS).find(|actor| id::<K>(*actor) == *hold);
            let actor = actor.ok_or("a grant to a stranger")?;
            if told.heard && *of == nonce(actor) && self.waiting.contains(&actor) {
                self.believe(actor, token.as_u64(), &record)?;
            }
        }
        Ok(())
    }

    fn take_answer(
        &mut self,
        actor: usize,
        op: &Op,
        answer: &Result<Reply, String>,
        record: &K::Record,
    ) -> Result<(), String> {
        // A client that gives something up does not believe in it any more, whatever comes of it. Readers may be inside
        // while one yields for them.
        match op {
            Op::Release { .. } | Op::Abandon { .. } => {
                self.believers.remove(&actor);
                self.waiting.remove(&actor);
            }
            Op::Yield { .. } if K::mode(actor) == LockMode::Write => {
                self.believers.remove(&actor);
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
            (Op::Acquire { .. } | Op::Yield { .. }, Ok(Reply::Granted(token))) => {
                self.believe(actor, token.as_u64(), record)?;
            }
            (Op::Acquire { .. }, Ok(Reply::Queued { .. })) => {
                self.waiting.insert(actor);
            }
            (Op::Renew { .. }, Ok(Reply::Done)) => self.believe_the_record(record, [actor]),
            (Op::Raise { token, .. }, Ok(Reply::Done)) => {
                self.tokens[actor] = self.tokens[actor].max(token.as_u64());
                // The lock's time has gone on, and all deadlines with it.
                self.believe_the_record(record, 0..K::ACTORS);
            }
            (Op::Renew { .. } | Op::Yield { .. } | Op::Raise { .. }, Ok(Reply::Gone)) => {
                self.believers.remove(&actor);
            }
            _ => {}
        }
        Ok(())
    }

    /// A client has been told of a grant.
    fn believe(&mut self, actor: usize, token: u64, record: &K::Record) -> Result<(), String> {
        self.waiting.remove(&actor);
        // If there is none, the judge will say so.
        let until = K::recorded(self, record, actor).unwrap_or(u64::MAX);
        self.believers.insert(actor, until);
        K::take_token(self, actor, token)
    }

    /// These hold for as long as the record says, if they believe to hold at all.
    fn believe_the_record(&mut self, record: &K::Record, actors: impl IntoIterator<Item = usize>) {
        for actor in actors {
            if let Some(recorded) = K::recorded(self, record, actor)
                && let Some(until) = self.believers.get_mut(&actor)
            {
                *until = recorded;
            }
        }
    }
}
