//! One lock, twice: in the memory store and on a server.

use std::fmt::Write as _;

use dlock::__internals::{
    MemoryStore, Message, Op, Reply, ServerClock as _, lock_key, mutex_key, record_of,
};
use dlock::{LockKey, LockKind};
use dlock_tests::{
    Held, Moments, MutexRecord, Outcome, Pieces, Record, Scene, Stage, Strictness, TestClock, Told,
};

use crate::spec::apart::{is_free_unnoticed, may_have_left_work};
use crate::spec::compare::{is_as_specified, tells_as_specified};
use crate::spec::plan::{Family, Plan, Publish};
use crate::spec::request::Request;

pub(crate) struct Pair<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) of: Family,
    /// The lock; of a mutex, for those who need no token.
    pub(crate) key: LockKey,
    /// The mutex, for clients that need tokens.
    pub(crate) fenced: LockKey,
    /// Where messages go, up to the client's id.
    channels: String,
    channel: String,
    pub(crate) pieces: Pieces,
    pub(crate) sharded: bool,
    /// The clients that do not hear.
    pub(crate) deaf: Vec<String>,
    pub(crate) clock: TestClock,
    pub(crate) latest_time: u64,
    pub(crate) specification: MemoryStore,
    /// What the last script has left in the hash.
    pub(crate) record: Record,
    /// Until when the server keeps it.
    pub(crate) kept: Option<u64>,
    /// A mutex' string.
    pub(crate) held: Option<Held>,
    /// What the hash says of it.
    pub(crate) noted_held: bool,
    pub(crate) moments: Moments,
    /// The hold that a mutex was handed over to, and until when.
    pub(crate) passed_on: Option<(String, u64)>,
    /// Whether the two cannot be compared any more.
    pub(crate) parted: bool,
    pub(crate) operations: u64,
    pub(crate) story: String,
}

/// An answer, and who was told and heard.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) told: Vec<(Message, bool)>,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(stage: &'a Stage, plan: &Plan, prefix: &str, name: &str) -> Self {
        let clock = TestClock::default();
        let [key, fenced] = match plan.of {
            Family::Rw => [LockKind::Rw, LockKind::Rw].map(|_| lock_key(prefix, name)),
            // The key of a mutex has no prefix.
            Family::Mutex => [LockKind::Mutex, LockKind::FencedMutex]
                .map(|kind| mutex_key(kind, prefix, &format!("{name}-{prefix}"))),
        }
        .map(|key| key.expect("a valid name"));
        let (prefix, suffix) = record_of(&key).split_at(prefix.len());
        Self {
            stage,
            of: plan.of,
            channels: format!("{prefix}~c{suffix}:"),
            channel: format!("{prefix}~c"),
            key,
            fenced,
            pieces: plan.pieces,
            sharded: plan.sharded,
            deaf: Vec::new(),
            latest_time: clock.micros(),
            specification: specification(&clock),
            clock,
            record: Record::default(),
            kept: None,
            held: None,
            noted_held: false,
            moments: Moments::default(),
            passed_on: None,
            parted: false,
            operations: 0,
            story: format!("pieces: {:?}\n", plan.pieces),
        }
    }

    /// Sends a request to both, and compares.
    pub(crate) fn send(
        &mut self,
        request: &Request,
        publish: Publish,
        plain: bool,
    ) -> Result<Answer, String> {
        self.forget()?;
        let (now, before, letter) = (
            self.now(),
            self.record.clone(),
            publish.letter(self.sharded),
        );
        let specified = self.specify(request, publish, plain);
        if request.op != Op::Inspect {
            self.tell(request, letter, plain, &specified);
        }
        let (reply, told) = self.ask(request, letter, plain)?;
        let same = if is_as_specified(request, &specified.reply, &reply, &before, now) {
            let channels = match letter {
                // A client's only one.
                "s" | "p" => format!("{}{}:", command(letter), self.channel),
                _ => command(letter) + &self.channels,
            };
            tells_as_specified(&channels, &specified.told, &told)
                .and_then(|()| self.compare_records())
        } else {
            Err(format!("but the script answers {reply:?}"))
        };
        self.is_marked(request, &reply)?;
        let left_work = self.pieces == Pieces::OfTwo
            && may_have_left_work(&request.op, &before, &self.record, now, told.len());
        // What a script has left may show later: in the lock's time, and in who has been told.
        let shows_later = self.record.offset > 0 || publish == Publish::Off;
        let unnoticed = is_free_unnoticed(&self.record, self.clock.micros());
        if left_work && (shows_later || same.is_err()) || unnoticed {
            self.parted = true;
        } else {
            same?;
        }
        Ok(Answer {
            reply,
            told: specified.told,
        })
    }

    /// What the script says.
    fn ask(
        &mut self,
        request: &Request,
        letter: &str,
        plain: bool,
    ) -> Result<(Reply, Vec<Told>), String> {
        let mut told = Vec::new();
        for round in 0..1000 {
            let scene = Scene {
                key: self.key_of(request.kind),
                op: &request.op,
                valid_until: request.valid_until,
                time: self.clock.micros(),
                publish: letter,
                deaf: &self.deaf,
                keys: request.keys,
                // A client that is told to ask again at once does so by the script.
                plain: plain && round == 0,
                pieces: self.pieces,
                fault: None,
            };
            let outcome = self.stage.play(&scene);
            self.operations += 1;
            self.take(&outcome)?;
            told.extend(outcome.told);
            let reply = outcome
                .answer
                .map_err(|error| format!("but the script fails: {error}"))?;
            if reply != Reply::Again {
                return Ok((reply, told));
            }
        }
        Err("but the script never comes to an end".to_owned())
    }

    fn take(&mut self, outcome: &Outcome) -> Result<(), String> {
        let (fields, time) = (&outcome.fields, self.clock.micros());
        let inconsistent = |why| format!("but the script leaves {fields:?}: {why}");
        match self.of {
            Family::Rw => {
                self.record =
                    Record::read(fields, Strictness::Finished, time).map_err(inconsistent)?;
            }
            Family::Mutex => {
                let read = MutexRecord::read(fields, Strictness::Finished, time);
                let read = read.map_err(inconsistent)?;
                (self.record, self.moments) = (read.beside, read.moments);
                self.noted_held = read.noted_held;
                self.passed_on = read.passed_on;
                self.held.clone_from(&outcome.held);
            }
        }
        self.kept = outcome.kept;
        if !fields.is_empty() && outcome.kept.is_none() {
            return Err(inconsistent("it is kept for ever".to_owned()));
        }
        Ok(())
    }

    /// The lock, for an acquisition of this kind.
    pub(crate) fn key_of(&self, kind: LockKind) -> &LockKey {
        if kind == LockKind::FencedMutex {
            &self.fenced
        } else {
            &self.key
        }
    }

    /// The server forgets what is due, as long as it has been promised for no longer; then no client knows it.
    pub(crate) fn forget(&mut self) -> Result<(), String> {
        let time = self.clock.micros();
        if self.kept.is_none_or(|kept| kept > time) {
            return Ok(());
        }
        let promised = self.promised();
        if promised > time {
            return Err(format!(
                "at {time} the key has expired, but is promised until {promised}"
            ));
        }
        self.specification = specification(&self.clock);
        (self.record, self.kept) = (Record::default(), None);
        (self.noted_held, self.moments) = (false, Moments::default());
        self.passed_on = None;
        self.specify_string();
        Ok(())
    }

    fn tell(&mut self, request: &Request, letter: &str, plain: bool, specified: &Answer) {
        let Request {
            kind,
            op,
            valid_until,
            keys,
        } = request;
        let time = self.clock.micros();
        let Answer { reply, told } = specified;
        let deaf = &self.deaf;
        write!(
            self.story,
            "at {time}: {kind} {keys:?} {op:?}, valid until {valid_until}, publish {letter:?}, plain {plain}, deaf \
             {deaf:?}\n  -> {reply:?}, tells {told:?}\n"
        )
        .expect("text");
    }

    /// The server's time.
    pub(crate) fn time(&self) -> u64 {
        self.clock.micros()
    }

    /// The lock's time.
    pub(crate) fn now(&self) -> u64 {
        self.specification.times(&self.key).0
    }

    /// Until when the lock has to be remembered.
    pub(crate) fn promised(&self) -> u64 {
        self.specification.times(&self.key).1
    }

    pub(crate) fn set_clock(&mut self, time: u64) {
        self.clock.set(time);
        self.latest_time = self.latest_time.max(time);
    }

    /// The latest time there was.
    pub(crate) fn latest_time(&self) -> u64 {
        self.latest_time
    }
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        self.stage.clear(&self.key);
    }
}

/// One that remembers until it is told to forget, as the server may.
fn specification(clock: &TestClock) -> MemoryStore {
    MemoryStore::with_clock(clock.clone()).remembering_longer(u64::MAX)
}

/// How messages are seen to be published.
fn command(letter: &str) -> String {
    let command = match letter {
        "S" | "s" => "SPUBLISH ",
        "R" => "note ",
        _ => "PUBLISH ",
    };
    command.to_owned()
}
