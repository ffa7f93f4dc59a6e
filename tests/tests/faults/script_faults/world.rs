//! A lock, and which clients believe to hold it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::marker::PhantomData;

use dlock::__internals::{Keys, Op, Reply};
use dlock_tests::{Fault, Held, Pieces, Scene, Stage};

use crate::script_faults::act::{Act, VALID, id};
use crate::script_faults::faults::{LONGEST_MEMORY, has_no_choice};
use crate::script_faults::kind::{Ends, Kind};

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

/// All that matters, between two operations. Times are in microseconds.
#[derive(Debug, Clone)]
pub(crate) struct World<K> {
    name: String,
    prefix: String,
    /// The server's time.
    pub(crate) time: u64,
    pub(crate) publish: &'static str,
    /// The clients that do not hear.
    pub(crate) deaf: Vec<String>,
    pub(crate) pieces: Pieces,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) kept: Option<u64>,
    /// A mutex' string.
    pub(crate) held: Option<Held>,
    /// What another program believes to hold.
    pub(crate) foreign: Option<Held>,
    /// The clients that believe to hold the lock, and until when in its time.
    pub(crate) believers: BTreeMap<usize, u64>,
    /// The clients that wait, as far as they know.
    pub(crate) waiting: BTreeSet<usize>,
    /// The clients that have left a hold to its lease.
    pub(crate) ended: BTreeSet<usize>,
    /// The token that each was told last.
    pub(crate) tokens: Vec<u64>,
    /// Whether a fault has left the hash without expiry, which the next writer mends.
    pub(crate) for_ever: bool,
    pub(crate) sent: Vec<Sent>,
    kind: PhantomData<K>,
}

impl<K: Kind> World<K> {
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
            tokens: vec![0; K::ACTORS],
            for_ever: false,
            sent: Vec::new(),
            kind: PhantomData,
        }
    }

    /// Lets the server have what this world says.
    pub(crate) fn restore(&self, stage: &Stage) {
        let key = K::key(None, &self.prefix, &self.name);
        stage.restore(&key, &self.fields, self.kept, self.held.as_ref());
    }

    /// Carries out one operation, and judges. How many commands the script has run.
    pub(crate) fn play(
        &mut self,
        stage: &Stage,
        act: Act,
        fault: Option<Fault<'_>>,
    ) -> Result<u64, String> {
        let Some(op) = act.op::<K>(act.actor().map_or(0, |actor| self.tokens[actor])) else {
            self.play_foreign(stage, act);
            return self.judge(None).map(|()| 0);
        };
        let sent = Sent {
            act,
            op,
            valid_until: self.time + VALID,
            plain: K::is_plain(self, act),
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
        let act = sent.act;
        let key = K::key(act.actor(), &self.prefix, &self.name);
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
        if act == Act::Free && self.foreign.take().is_some() {
            self.held = None;
        }
        let key = K::key(None, &self.prefix, &self.name);
        stage.hold(&key, self.held.as_ref());
    }

    /// What must hold after every script, however it ended: no client that believes to hold the lock is wrong, no client has
    /// touched another program's hold, and the record is in order.
    pub(crate) fn judge(&mut self, fault: Option<Fault<'_>>) -> Result<(), String> {
        let record = K::record(self)?;
        let Ends { needed, latest } = K::check(self, &record)?;
        let now = K::now(self, &record);
        for (actor, until) in &self.believers {
            let recorded = K::recorded(self, &record, *actor);
            if *until > now && recorded.is_none_or(|recorded| recorded < *until) {
                return Err(format!(
                    "{} believes to hold until {until}",
                    id::<K>(*actor)
                ));
            }
        }
        let Some(kept) = self.kept else {
            self.for_ever |= !self.fields.is_empty() && has_no_choice(fault);
            return if self.fields.is_empty() || self.for_ever {
                Ok(())
            } else {
                Err("kept for ever".to_owned())
            };
        };
        if needed > self.time && kept < needed {
            return Err(format!("kept until {kept}, needed until {needed}"));
        }
        if kept > latest.max(self.time) + LONGEST_MEMORY {
            return Err(format!("kept until {kept}"));
        }
        Ok(())
    }

    /// Time passes, and with it leases and perhaps the keys.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.time += micros;
        self.expire();
        let now = K::record(self).map_or(self.time, |record| K::now(self, &record));
        self.believers.retain(|_, until| *until > now);
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
        let idle = (0..K::ACTORS)
            .filter(|actor| !self.believers.contains_key(actor) && !self.waiting.contains(actor));
        for actor in idle.take(2) {
            acts.extend([Act::Wait(actor), Act::Try(actor), Act::AbandonStray(actor)]);
        }
        for holder in self.believers.keys().take(2) {
            acts.extend(K::OF_HOLDER.iter().map(|make| make(*holder)));
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
