//! A mutex, and who believes to hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dlock::__internals::{Keys, Op, Reply, mutex_key};
use dlock::LockKey;
use dlock_tests::{Fault, Held, MutexRecord, Pieces, Scene, Stage, Strictness};

use crate::mutex_faults::act::{ACTORS, Act, VALID, id, kind};

/// The year 2100, as the server itself must let nothing expire.
const START: u64 = 4_102_444_800_000_000;

/// A request as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) act: Act,
    pub(crate) op: Op,
    pub(crate) valid_until: u64,
    pub(crate) plain: bool,
}

/// All that matters, between two operations. Times are the server's.
#[derive(Debug, Clone)]
pub(crate) struct World {
    name: String,
    prefix: String,
    pub(crate) time: u64,
    pub(crate) publish: &'static str,
    /// The clients that do not hear.
    pub(crate) deaf: Vec<String>,
    pub(crate) pieces: Pieces,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) kept: Option<u64>,
    pub(crate) held: Option<Held>,
    /// What another program believes to hold.
    pub(crate) foreign: Option<Held>,
    /// The clients that believe to hold the mutex, and up to which millisecond.
    pub(crate) believers: BTreeMap<usize, u64>,
    /// The clients that wait, as far as they know.
    pub(crate) waiting: BTreeSet<usize>,
    /// The clients that have left a hold to its lease.
    pub(crate) ended: BTreeSet<usize>,
    /// The token that each was told last.
    pub(crate) tokens: [u64; ACTORS],
    /// Whether a fault has left the hash without expiry, which the next writer mends.
    pub(crate) for_ever: bool,
    pub(crate) sent: Vec<Sent>,
}

impl World {
    pub(crate) fn new(name: &str, pieces: Pieces) -> Self {
        let prefix = dlock_tests::unique_prefix();
        Self {
            name: format!("{name}-{prefix}"),
            prefix,
            time: START,
            publish: "S",
            deaf: Vec::new(),
            pieces,
            fields: BTreeMap::new(),
            kept: None,
            held: None,
            foreign: None,
            believers: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ended: BTreeSet::new(),
            tokens: [0; ACTORS],
            for_ever: false,
            sent: Vec::new(),
        }
    }

    fn key(&self, actor: Option<usize>) -> LockKey {
        let kind = kind(actor.unwrap_or(0));
        mutex_key(kind, &self.prefix, &self.name).expect("a valid name")
    }

    /// Lets the server have what this world says.
    pub(crate) fn restore(&self, stage: &Stage) {
        let held = self.held.as_ref();
        stage.restore(&self.key(None), &self.fields, self.kept, held);
    }

    /// Carries out one operation, and judges. How many commands the script has run.
    pub(crate) fn play(
        &mut self,
        stage: &Stage,
        act: Act,
        fault: Option<Fault<'_>>,
    ) -> Result<u64, String> {
        let Some(op) = act.op() else {
            self.play_foreign(stage, act);
            return self.judge(None).map(|()| 0);
        };
        // No client asks anew by an id that was given up; a plain `SET` does not notice that it was.
        let given_up = self.fields.contains_key(&format!("-{}", id(1)));
        let sent = Sent {
            act,
            op,
            valid_until: self.time + VALID,
            plain: act.actor() == Some(1) && !given_up,
        };
        let result = self.deliver(stage, &sent, fault);
        self.sent.push(sent);
        result
    }

    /// Carries out a request, for the first time or not.
    pub(crate) fn deliver(
        &mut self,
        stage: &Stage,
        sent: &Sent,
        fault: Option<Fault<'_>>,
    ) -> Result<u64, String> {
        let (act, key) = (sent.act, self.key(sent.act.actor()));
        let mut calls = 0;
        for _ in 0..100 {
            let scene = Scene {
                key: &key,
                op: &sent.op,
                valid_until: sent.valid_until,
                time: self.time,
                publish: self.publish,
                deaf: &self.deaf,
                keys: Keys::All,
                plain: sent.plain,
                pieces: self.pieces,
                fault,
            };
            let outcome = stage.play(&scene);
            calls += outcome.calls;
            self.take(sent, &outcome)
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

    fn play_foreign(&mut self, stage: &Stage, act: Act) {
        self.expire();
        if act == Act::Take && self.held.is_none() {
            self.held = Some(Held {
                marked: false,
                value: "5f3ecdf2b8c011efa1b20242ac120002".to_owned(),
                until: Some(self.time / 1000 + 4_000),
            });
            self.foreign.clone_from(&self.held);
        }
        if let (Act::Free, Some(_)) = (act, self.foreign.take()) {
            self.held = None;
        }
        stage.hold(&self.key(None), self.held.as_ref());
    }

    pub(crate) fn record(&self) -> Result<MutexRecord, String> {
        MutexRecord::read(&self.fields, Strictness::Aborted, self.time)
    }

    /// Time passes, and with it leases and perhaps the keys.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.time += micros;
        self.expire();
        let time = self.time;
        self.believers.retain(|_, until| *until > time / 1000);
    }

    fn expire(&mut self) {
        let time = self.time;
        if self.kept.is_some_and(|kept| kept <= time) {
            self.fields.clear();
            self.kept = None;
        }
        self.held = self.held.take().filter(|held| held.is_live(time));
        self.foreign = self.foreign.take().filter(|held| held.is_live(time));
    }

    /// The operations that are worth trying now.
    pub(crate) fn acts(&self) -> Vec<Act> {
        let mut acts = vec![Act::Inspect];
        let idle = (0..ACTORS)
            .filter(|actor| !self.believers.contains_key(actor) && !self.waiting.contains(actor));
        // One who needs a token, and one who tries a plain `SET` first, or not.
        for actor in idle.take(2) {
            acts.extend([Act::Wait(actor), Act::Try(actor), Act::AbandonStray(actor)]);
        }
        for holder in self.believers.keys() {
            let holder = *holder;
            acts.extend([
                Act::Release(holder),
                Act::ReleaseStray(holder),
                Act::Abandon(holder),
                Act::End(holder),
                Act::EndStray(holder),
                Act::Renew(holder),
                Act::Wait(holder),
            ]);
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

    /// Equal for worlds that go on alike.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.fields, self.kept, &self.held, &self.foreign).hash(&mut hasher);
        (&self.believers, &self.waiting, &self.ended, self.time).hash(&mut hasher);
        (&self.name, &self.deaf, self.publish).hash(&mut hasher);
        hasher.finish()
    }
}
