//! A lock, and who believes to hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dlock::__internals::{Extent, Keys, Message, Op, Reply, lock_key};
use dlock::{LockKey, LockMode};
use dlock_tests::{Fault, Outcome, Pieces, Record, Scene, Stage, Strictness};

use crate::script_faults::actor::{ACTORS, Act, id, mode, nonce};

/// The year 2100, as the server itself must let nothing expire.
const START: u64 = 4_102_444_800_000_000;

/// All that matters, between two operations.
#[derive(Debug, Clone)]
pub(crate) struct World {
    key: LockKey,
    pub(crate) time: u64,
    pub(crate) publish: &'static str,
    /// The clients that do not hear.
    pub(crate) deaf: Vec<String>,
    pub(crate) pieces: Pieces,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) kept: Option<u64>,
    /// The clients that believe to hold the lock, and until when in its time.
    pub(crate) believers: BTreeMap<usize, u64>,
    /// The clients that wait, as far as they know.
    waiting: BTreeSet<usize>,
    /// The clients that have left a hold to its lease.
    ended: BTreeSet<usize>,
    /// The token that each was told last.
    tokens: [u64; ACTORS],
    /// Whether a fault has left the key without expiry, which the next writer mends.
    pub(crate) for_ever: bool,
}

impl World {
    pub(crate) fn new(name: &str, pieces: Pieces) -> Self {
        let prefix = dlock_tests::unique_prefix();
        Self {
            key: lock_key(&prefix, name).expect("a valid name"),
            time: START,
            publish: "S",
            deaf: Vec::new(),
            pieces,
            fields: BTreeMap::new(),
            kept: None,
            believers: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ended: BTreeSet::new(),
            tokens: [0; ACTORS],
            for_ever: false,
        }
    }

    /// Lets the server have what this world says.
    pub(crate) fn restore(&self, stage: &Stage) {
        stage.restore(&self.key, &self.fields, self.kept, None);
    }

    /// Carries out one operation, and judges. How many commands the script has run.
    pub(crate) fn play(
        &mut self,
        stage: &Stage,
        act: Act,
        fault: Option<Fault<'_>>,
    ) -> Result<u64, String> {
        let op = act.op(act.actor().map_or(0, |actor| self.tokens[actor]));
        let mut calls = 0;
        for _ in 0..100 {
            let scene = Scene {
                key: &self.key,
                op: &op,
                valid_until: self.time + 2_000_000,
                time: self.time,
                publish: self.publish,
                deaf: &self.deaf,
                keys: Keys::All,
                plain: matches!(act, Act::Release(actor) if actor % 4 < 2),
                pieces: self.pieces,
                fault,
            };
            let outcome = stage.play(&scene);
            calls += outcome.calls;
            self.take(act, &op, &outcome)
                .and_then(|()| self.judge(fault))
                .map_err(|why| format!("{why}\n{act:?} {outcome:?}"))?;
            if outcome.answer != Ok(Reply::Again) {
                if let (Err(error), None) = (outcome.answer, fault) {
                    return Err(format!("{act:?} fails: {error}"));
                }
                return Ok(calls);
            }
        }
        Err(format!("{act:?} never comes to an end"))
    }

    fn take(&mut self, act: Act, op: &Op, outcome: &Outcome) -> Result<(), String> {
        self.fields.clone_from(&outcome.fields);
        self.kept = outcome.kept;
        self.for_ever &= outcome.kept.is_none() && !self.fields.is_empty();
        let record = self.record()?;
        if let Some(actor) = act.actor() {
            self.take_answer(actor, op, &outcome.answer, &record);
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
                self.tokens[actor] = token.as_u64();
                let deadline = record
                    .holds
                    .get(&hold.to_string())
                    .map(|hold| hold.deadline);
                self.believers.insert(
                    actor,
                    deadline.ok_or("a grant that was heard has been undone")?,
                );
            }
        }
        Ok(())
    }

    fn take_answer(
        &mut self,
        actor: usize,
        op: &Op,
        answer: &Result<Reply, String>,
        record: &Record,
    ) {
        // A client that gives something up does not believe in it any more, whatever comes of it. Readers may be inside
        // while one yields for them.
        match op {
            Op::Release { .. } | Op::Abandon { .. } => {
                self.believers.remove(&actor);
                self.waiting.remove(&actor);
            }
            Op::Yield { .. } if mode(actor) == LockMode::Write => {
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
        let hold = record.holds.get(&id(actor).to_string());
        match (op, answer) {
            (Op::Acquire { .. } | Op::Yield { .. }, Ok(Reply::Granted(token))) => {
                self.tokens[actor] = token.as_u64();
                self.waiting.remove(&actor);
                // If there is none, the judge will say so.
                self.believers
                    .insert(actor, hold.map_or(u64::MAX, |hold| hold.deadline));
            }
            (Op::Acquire { .. }, Ok(Reply::Queued { .. })) => {
                self.waiting.insert(actor);
            }
            (Op::Renew { .. }, Ok(Reply::Done)) => {
                if let (Some(until), Some(hold)) = (self.believers.get_mut(&actor), hold) {
                    *until = hold.deadline;
                }
            }
            (Op::Raise { token, .. }, Ok(Reply::Done)) => {
                self.tokens[actor] = self.tokens[actor].max(token.as_u64());
                // The lock's time has gone on, and all deadlines with it.
                for (believer, until) in &mut self.believers {
                    if let Some(hold) = record.holds.get(&id(*believer).to_string()) {
                        *until = hold.deadline;
                    }
                }
            }
            (Op::Renew { .. } | Op::Yield { .. } | Op::Raise { .. }, Ok(Reply::Gone)) => {
                self.believers.remove(&actor);
            }
            _ => {}
        }
    }

    pub(crate) fn record(&self) -> Result<Record, String> {
        Record::read(&self.fields, Strictness::Aborted, self.time)
    }

    pub(crate) fn now(&self, record: &Record) -> u64 {
        record.now(self.time)
    }

    /// Time passes, and with it leases and perhaps the key.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.time += micros;
        if self.kept.is_some_and(|kept| kept <= self.time) {
            self.fields.clear();
            self.kept = None;
        }
        let now = self.record().map_or(self.time, |record| self.now(&record));
        self.believers.retain(|_, until| *until > now);
    }

    /// The operations that are worth trying now.
    pub(crate) fn acts(&self) -> Vec<Act> {
        let mut acts = vec![Act::Inspect];
        let idle = (0..ACTORS)
            .find(|actor| !self.believers.contains_key(actor) && !self.waiting.contains(actor));
        if let Some(idle) = idle {
            acts.extend([
                Act::Wait(idle),
                Act::Wait(idle ^ 1),
                Act::Try(idle),
                Act::AbandonStray(idle),
            ]);
        }
        for holder in self.believers.keys().take(2) {
            let holder = *holder;
            acts.extend([
                Act::Release(holder),
                Act::ReleaseStray(holder),
                Act::Abandon(holder),
                Act::End(holder),
                Act::EndStray(holder),
                Act::Raise(holder),
                Act::RaiseFar(holder),
            ]);
            acts.extend([Act::Yield(holder), Act::Renew(holder), Act::Wait(holder)]);
        }
        for waiter in self.waiting.iter().take(2) {
            acts.extend([
                Act::Wait(*waiter),
                Act::Abandon(*waiter),
                Act::AbandonStray(*waiter),
            ]);
        }
        acts
    }

    pub(crate) fn believers(&self) -> Vec<usize> {
        self.believers.keys().copied().collect()
    }

    pub(crate) fn waiting(&self) -> Vec<usize> {
        self.waiting.iter().copied().collect()
    }

    pub(crate) fn believes(&self, actor: usize) -> bool {
        self.believers.contains_key(&actor)
    }

    pub(crate) fn has_ended(&self, actor: usize) -> bool {
        self.ended.contains(&actor)
    }

    pub(crate) fn forget_beliefs(&mut self) {
        self.believers.clear();
    }

    pub(crate) fn largest_token(&self) -> u64 {
        self.tokens.iter().copied().max().unwrap_or(0)
    }

    /// Whether nothing is left but the last token and tombstones.
    pub(crate) fn is_free(&self) -> bool {
        self.record().is_ok_and(|record| {
            record.holds.is_empty()
                && record.writers.places.is_empty()
                && record.readers.places.is_empty()
        })
    }

    /// Equal for worlds that go on alike.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (
            &self.fields,
            self.kept,
            &self.believers,
            &self.waiting,
            self.time,
        )
            .hash(&mut hasher);
        (self.key.as_str(), &self.deaf, self.publish).hash(&mut hasher);
        hasher.finish()
    }
}
