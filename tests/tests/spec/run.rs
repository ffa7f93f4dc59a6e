//! A plan carried out, on the memory store and by the scripts.

use std::fmt::Write as _;
use std::time::Duration;

use dlock::__internals::{MemoryStore, Message, Op, Post, Reply, ServerClock as _, lock_key};
use dlock::{LockInfo, LockKey};
use dlock_tests::{Outcome, Pieces, Record, Scene, Stage, Strictness, TestClock};

use crate::compare::{is_as_specified, micros, same, says_the_same, tells_as_specified};
use crate::plan::{Actor, Index, Plan, Step, Who};
use crate::request::{Knowledge, Request, client, number, piece};

/// How long after it became free a lock may be remembered, in microseconds: a minute, and what saves expiries.
const LONGEST_MEMORY: u64 = 71_001_000;

/// One lock, twice.
pub(crate) struct Run<'a> {
    stage: &'a Stage,
    key: LockKey,
    /// Where messages go, up to the client's id.
    channels: String,
    pieces: Pieces,
    actors: &'a [Actor],
    knowledge: Vec<Knowledge>,
    deaf: Vec<String>,
    clock: TestClock,
    latest_time: u64,
    specification: MemoryStore,
    /// What the last script has left, and until when it is kept.
    record: Record,
    kept: Option<u64>,
    sent: Vec<Request>,
    /// Every deadline that was recorded, in the lock's time.
    deadlines: Vec<u64>,
    /// Until when acquires had to be ignored, in the server's time.
    tombs: Vec<u64>,
    /// Whether the two cannot be compared any more.
    parted: bool,
    operations: u64,
    story: String,
}

impl<'a> Run<'a> {
    /// Carries out `plan` on the lock `name`. How many operations, and the first difference.
    pub(crate) fn of(
        plan: &'a Plan,
        stage: &'a Stage,
        prefix: &str,
        name: &str,
    ) -> (u64, Result<(), String>) {
        let clock = TestClock::default();
        let key = lock_key(prefix, name).expect("a valid name");
        let mut run = Run {
            stage,
            channels: key.as_str().replacen(':', "~c:", 1) + ":",
            key,
            pieces: plan.pieces,
            actors: &plan.actors,
            knowledge: vec![Knowledge::default(); plan.actors.len()],
            deaf: Vec::new(),
            latest_time: clock.micros(),
            specification: specification(&clock),
            clock,
            record: Record::default(),
            kept: None,
            sent: Vec::new(),
            deadlines: Vec::new(),
            tombs: Vec::new(),
            parted: false,
            operations: 0,
            story: String::new(),
        };
        let result = run.carry_out(&plan.steps);
        run.stage.clear(&run.key);
        let told = result.map_err(|difference| format!("{}{difference}", run.story));
        (run.operations, told)
    }

    fn carry_out(&mut self, steps: &[Step]) -> Result<(), String> {
        for step in steps {
            self.step(step)?;
            if self.parted {
                return Ok(());
            }
        }
        self.send(&inspection(), "", false)?;
        // In the end all is forgotten.
        self.set_clock(self.latest_time + micros(Duration::from_secs(7200)));
        self.send(&inspection(), "", false)?;
        same("what is left", &self.record, &Record::default())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send {
                who,
                act,
                publish,
                plain,
            } => {
                let number = self.actor(*who);
                let now = self.clock.micros();
                let actor = &self.actors[number];
                let request = self.knowledge[number].request(number, actor, act, now);
                self.send(&request, publish, *plain)?;
                self.sent.push(request);
            }
            Step::Resend { sent, publish } if !self.sent.is_empty() => {
                let request = sent.of(&self.sent).clone();
                self.send(&request, publish, false)?;
            }
            Step::Resend { .. } => {}
            Step::Hear { client: n, hears } => {
                let client = client(*n);
                self.deaf.retain(|deaf| *deaf != client);
                if !hears {
                    self.deaf.push(client);
                }
            }
            Step::Forward(span) => self.set_clock(self.clock.micros() + micros(*span)),
            Step::ForwardTo { deadline, past } => self.forward_to(*deadline, *past),
            Step::Back(span) => self.back(*span),
        }
        Ok(())
    }

    /// Sends a request to both, and compares.
    fn send(&mut self, request: &Request, publish: &str, plain: bool) -> Result<(), String> {
        self.forget()?;
        if self.would_note_what_is_over(&request.op) {
            return Ok(());
        }
        let (now, before) = (self.time(), self.record.clone());
        let (specified, specified_told) = self.specify(request, publish);
        let time = self.clock.micros();
        if request.op != Op::Inspect {
            let (op, valid) = (&request.op, request.valid_until);
            writeln!(self.story, "at {time}: {op:?}, valid until {valid}, publish {publish:?}, plain {plain}, deaf {:?}\n  -> {specified:?}, tells {specified_told:?}", self.deaf).expect("text");
        }
        let (answer, told) = self.ask(request, publish, plain)?;
        if !is_as_specified(&request.op, &specified, &answer, &before, now) {
            return Err(format!("but the script answers {answer:?}"));
        }
        let command = if publish == "S" {
            "SPUBLISH"
        } else {
            "PUBLISH"
        };
        if self.has_left_work(&request.op, now) {
            self.parted = true;
            return Ok(());
        }
        tells_as_specified(command, &self.channels, &specified_told, &told)?;
        self.compare_records()?;
        self.note(request, &answer, &specified_told);
        Ok(())
    }

    /// What the specification says.
    fn specify(&mut self, request: &Request, publish: &str) -> (Reply, Vec<(Message, bool)>) {
        let (mut told, deaf) = (Vec::new(), &self.deaf);
        let mut deliver = |message: &Message| {
            let client = message.hold().client().as_str();
            let heard = !deaf.iter().any(|deaf| deaf == client);
            if !publish.is_empty() {
                told.push((message.clone(), heard));
            }
            heard
        };
        let mut post = Post::new(&mut deliver).in_pieces_of(piece(self.pieces));
        if !matches!(publish, "S" | "P") {
            post = post.untrusted();
        }
        let Request { op, valid_until } = request;
        let reply = self
            .specification
            .decide(&self.key, op, *valid_until, &mut post);
        (reply, told)
    }

    /// What the script says.
    fn ask(
        &mut self,
        request: &Request,
        publish: &str,
        plain: bool,
    ) -> Result<(Reply, Vec<dlock_tests::Told>), String> {
        let mut told = Vec::new();
        for _ in 0..1000 {
            let scene = Scene {
                key: &self.key,
                op: &request.op,
                valid_until: request.valid_until,
                time: self.clock.micros(),
                publish: if publish.is_empty() { "" } else { publish },
                deaf: &self.deaf,
                plain,
                pieces: self.pieces,
                fault: None,
            };
            let outcome = self.stage.play(&scene);
            self.operations += 1;
            self.take(&outcome)?;
            told.extend(outcome.told);
            let answer = outcome
                .answer
                .map_err(|error| format!("but the script fails: {error}"))?;
            if answer != Reply::Again {
                return Ok((answer, told));
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
        let inspected =
            self.specification
                .decide(&self.key, &Op::Inspect, 0, &mut Post::new(&mut |_| true));
        let Reply::Info(info) = inspected else {
            return Err(format!("inspect answers {inspected:?}"));
        };
        let recorded = |why| format!("but the script leaves {:?}: {why}", self.record);
        says_the_same(&self.record, &info, now).map_err(recorded)?;
        same("the lock's time", &recorded_time(&self.record, time), &now).map_err(recorded)?;
        let kept = self.kept.unwrap_or(0);
        if promised > time && kept < promised {
            return Err(recorded(format!(
                "kept until {kept}, and not until {promised}"
            )));
        }
        let Record {
            holds,
            writers,
            readers,
            buried,
            ..
        } = &self.record;
        let free = holds.is_empty() && writers.places.is_empty() && readers.places.is_empty();
        let needed = buried
            .values()
            .copied()
            .max()
            .unwrap_or(0)
            .max(self.latest_time);
        if free && kept > needed + LONGEST_MEMORY {
            return Err(recorded(format!(
                "a free lock is kept until {kept}, at {time}"
            )));
        }
        let _: LockInfo = info;
        Ok(())
    }

    fn note(&mut self, request: &Request, answer: &Reply, told: &[(Message, bool)]) {
        if let (Op::Acquire { hold, .. } | Op::Yield { hold, .. }, Reply::Granted(token)) =
            (&request.op, answer)
        {
            self.knowledge[number(&hold.to_string())].hears_of(*token);
        }
        for (message, heard) in told {
            if let (Message::Granted { hold, token, .. }, true) = (message, heard) {
                self.knowledge[number(&hold.to_string())].hears_of(*token);
            }
        }
        let Record {
            holds,
            writers,
            readers,
            buried,
            ..
        } = &self.record;
        let places = writers.places.values().chain(readers.places.values());
        self.deadlines
            .extend(holds.values().map(|hold| hold.deadline));
        self.deadlines.extend(places.map(|place| place.deadline));
        self.deadlines.sort_unstable();
        self.deadlines.dedup();
        self.tombs.extend(buried.values());
    }

    /// The server forgets what is due, as long as it has been promised for no longer; then nobody knows it.
    fn forget(&mut self) -> Result<(), String> {
        let time = self.clock.micros();
        if self.kept.is_none_or(|kept| kept > time) {
            return Ok(());
        }
        let (_, promised) = self.specification.times(&self.key);
        if promised > time {
            return Err(format!(
                "at {time} the key has expired, but is promised until {promised}"
            ));
        }
        self.specification = specification(&self.clock);
        (self.record, self.kept) = (Record::default(), None);
        Ok(())
    }

    /// A release of the only hold notes tokens that were handed out under it even if its lease is over, which the
    /// specification does not say (see [`is_as_specified`]); clients hand none out then.
    fn would_note_what_is_over(&self, op: &Op) -> bool {
        matches!(
            op,
            Op::Release {
                handed: Some(_),
                ..
            }
        ) && self.record.sole.is_some()
            && self.record.live(self.time()).next().is_none()
    }

    /// Whether somebody gave something up, and there were so many holds that are over that some did not get their turn
    /// to be cleared away. So nobody who waits is told; who asks next, goes on. The specification has no such pieces.
    fn has_left_work(&self, op: &Op, now: u64) -> bool {
        let mut holds = self.record.holds.values();
        self.pieces == Pieces::OfTwo && op.passes_on() && holds.any(|hold| hold.deadline <= now)
    }

    fn time(&self) -> u64 {
        self.specification.times(&self.key).0
    }

    fn set_clock(&mut self, time: u64) {
        self.clock.set(time);
        self.latest_time = self.latest_time.max(time);
    }

    fn forward_to(&mut self, deadline: Index, past: i64) {
        let (time, now) = (self.clock.micros(), self.time());
        let ends = self
            .deadlines
            .iter()
            .map(|at| (at + time).saturating_sub(now));
        let promised = self.specification.times(&self.key).1;
        let others = self
            .tombs
            .iter()
            .copied()
            .chain(self.kept)
            .chain([promised]);
        let mut ahead: Vec<u64> = ends
            .chain(others)
            .map(|at| at.saturating_add_signed(past))
            .collect();
        ahead.retain(|at| *at > time);
        ahead.sort_unstable();
        if !ahead.is_empty() {
            self.set_clock(*deadline.of(&ahead));
        }
    }

    /// Steps back, unless that brings back to life what has expired: how much of it is already cleared away is
    /// not specified.
    fn back(&mut self, span: Duration) {
        let (from, now) = (self.clock.micros(), self.time());
        let to = from - micros(span);
        self.clock.set(to);
        let then = self.time();
        let revived = |at: &u64| then < *at && *at <= now;
        let unburied = |at: &u64| to < *at && *at <= from;
        if self.deadlines.iter().any(revived) || self.tombs.iter().any(unburied) {
            self.clock.set(from);
        }
    }

    fn actor(&self, who: Who) -> usize {
        let now = self.time();
        let Record {
            writers, readers, ..
        } = &self.record;
        let (index, ids): (_, Vec<&String>) = match who {
            Who::Actor(actor) => return actor,
            Who::Holder(index) => (index, self.record.live(now).map(|(id, _)| id).collect()),
            Who::Waiter(index) => {
                let places = writers.places.values().chain(readers.places.values());
                (index, places.map(|place| &place.id).collect())
            }
        };
        if ids.is_empty() {
            return index.0 % self.actors.len();
        }
        number(index.of::<&String>(&ids))
    }
}

/// One that remembers until it is told to forget, as the server may.
fn specification(clock: &TestClock) -> MemoryStore {
    MemoryStore::with_clock(clock.clone()).remembering_longer(u64::MAX)
}

/// The lock's time by a record.
fn recorded_time(record: &Record, time: u64) -> u64 {
    (time + record.offset).max(record.last)
}

fn inspection() -> Request {
    Request {
        op: Op::Inspect,
        valid_until: 0,
    }
}
