//! One lock, twice: in the memory store and on a server.

use std::fmt::Write as _;

use dlock::__internals::{MemoryStore, Message, Op, Post, Reply, ServerClock as _, lock_key};
use dlock::LockKey;
use dlock_tests::{Outcome, Pieces, Record, Scene, Stage, Strictness, TestClock, Told};

use crate::apart::{is_free_unnoticed, may_have_left_work};
use crate::compare::{is_as_specified, same, says_the_same, tells_as_specified};
use crate::plan::{Plan, Publish};
use crate::request::{Request, piece};

/// How long after it became free a lock may be remembered, in microseconds: a minute, and what saves expiries.
const LONGEST_MEMORY: u64 = 71_001_000;

pub(crate) struct Pair<'a> {
    stage: &'a Stage,
    key: LockKey,
    /// Where messages go, up to the client's id.
    channels: String,
    pieces: Pieces,
    sharded: bool,
    /// The clients that do not hear.
    pub(crate) deaf: Vec<String>,
    clock: TestClock,
    latest_time: u64,
    specification: MemoryStore,
    /// What the last script has left.
    pub(crate) record: Record,
    /// Until when the server keeps it.
    pub(crate) kept: Option<u64>,
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
        let key = lock_key(prefix, name).expect("a valid name");
        Self {
            stage,
            channels: key.as_str().replacen(':', "~c:", 1) + ":",
            key,
            pieces: plan.pieces,
            sharded: plan.sharded,
            deaf: Vec::new(),
            latest_time: clock.micros(),
            specification: specification(&clock),
            clock,
            record: Record::default(),
            kept: None,
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
        let specified = self.specify(request, publish);
        if request.op != Op::Inspect {
            self.tell(request, letter, plain, &specified);
        }
        let (reply, told) = self.ask(request, letter, plain)?;
        let same = if is_as_specified(&request.op, &specified.reply, &reply, &before, now) {
            let channels = command(letter) + &self.channels;
            tells_as_specified(&channels, &specified.told, &told)
                .and_then(|()| self.compare_records())
        } else {
            Err(format!("but the script answers {reply:?}"))
        };
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

    /// What the specification says.
    fn specify(&mut self, request: &Request, publish: Publish) -> Answer {
        let (mut told, deaf) = (Vec::new(), &self.deaf);
        let letter = publish.letter(self.sharded);
        let heard = |client: &str| letter != "R" && !deaf.iter().any(|deaf| deaf == client);
        let mut deliver = |message: &Message| {
            let heard = heard(message.hold().client().as_str());
            if publish != Publish::Off {
                told.push((message.clone(), heard));
            }
            heard
        };
        let mut post = Post::new(&mut deliver).in_pieces_of(piece(self.pieces));
        if !matches!(letter, "S" | "P") {
            post = post.untrusted();
        }
        let mut op = request.op.clone();
        if letter == "R" {
            post = post.not_when_entering();
        } else if let Op::Acquire {
            place: Some(place), ..
        } = &mut op
        {
            // Who publishes like that does not hear what others publish otherwise.
            place.subscribed &= matches!(letter, "S" | "P");
        }
        let valid_until = request.valid_until;
        let reply = self
            .specification
            .decide(&self.key, &op, valid_until, &mut post);
        Answer { reply, told }
    }

    /// What the script says.
    fn ask(
        &mut self,
        request: &Request,
        letter: &str,
        plain: bool,
    ) -> Result<(Reply, Vec<Told>), String> {
        let mut told = Vec::new();
        for _ in 0..1000 {
            let scene = Scene {
                key: &self.key,
                op: &request.op,
                valid_until: request.valid_until,
                time: self.clock.micros(),
                publish: letter,
                deaf: &self.deaf,
                plain,
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
        let fields = &outcome.fields;
        let inconsistent = |why| format!("but the script leaves {fields:?}: {why}");
        self.record = Record::read(fields, Strictness::Finished).map_err(inconsistent)?;
        self.kept = outcome.kept;
        if !fields.is_empty() && outcome.kept.is_none() {
            return Err(inconsistent("it is kept for ever".to_owned()));
        }
        Ok(())
    }

    fn compare_records(&self) -> Result<(), String> {
        let time = self.clock.micros();
        let (now, promised) = self.specification.times(&self.key);
        let deaf = &mut |_: &Message| false;
        let inspected = self
            .specification
            .decide(&self.key, &Op::Inspect, 0, &mut Post::new(deaf));
        let Reply::Info(info) = inspected else {
            return Err(format!("inspect answers {inspected:?}"));
        };
        let record = &self.record;
        let recorded = |why| format!("but the script leaves {record:?}: {why}");
        says_the_same(record, &info, now).map_err(recorded)?;
        let recorded_time = (time + record.offset).max(record.last);
        same("the lock's time", &recorded_time, &now).map_err(recorded)?;
        let kept = self.kept.unwrap_or(0);
        if promised > time && kept < promised {
            return Err(recorded(format!("kept until {kept}, not until {promised}")));
        }
        let tomb = record.buried.values().copied().max().unwrap_or(0);
        // A token from another server is remembered until the clock has come to it.
        let needed = tomb.max(self.latest_time).max(record.last);
        if record.holds.is_empty() && self.waiting() == 0 && kept > needed + LONGEST_MEMORY {
            return Err(recorded(format!(
                "a free lock is kept until {kept}, at {time}"
            )));
        }
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.record.writers.places.len() + self.record.readers.places.len()
    }

    /// The server forgets what is due, as long as it has been promised for no longer; then nobody knows it.
    fn forget(&mut self) -> Result<(), String> {
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
        Ok(())
    }

    fn tell(&mut self, request: &Request, letter: &str, plain: bool, specified: &Answer) {
        let Request { op, valid_until } = request;
        let time = self.clock.micros();
        let Answer { reply, told } = specified;
        let deaf = &self.deaf;
        write!(
            self.story,
            "at {time}: {op:?}, valid until {valid_until}, publish {letter:?}, plain {plain}, deaf \
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
        "S" => "SPUBLISH ",
        "R" => "note ",
        _ => "PUBLISH ",
    };
    command.to_owned()
}
