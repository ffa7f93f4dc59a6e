//! A plan carried out.

use std::time::Duration;

use dlock::__internals::{Keys, Message, Op, Reply};
use dlock::LockKind;
use dlock_tests::{Record, Stage};

use crate::spec::apart::KEPT;
use crate::spec::compare::{micros, same};
use crate::spec::pair::{Answer, Pair};
use crate::spec::plan::{Act, Actor, Family, Index, Plan, Publish, Step, Who};
use crate::spec::request::{Knowledge, Request, client, id, number};

pub(crate) struct Run<'a> {
    pair: Pair<'a>,
    of: Family,
    actors: &'a [Actor],
    knowledge: Vec<Knowledge>,
    sent: Vec<Request>,
    /// Every deadline that was recorded, in the lock's time.
    deadlines: Vec<u64>,
    /// Until when acquires had to be ignored, and strings lasted, in the server's time.
    tombs: Vec<u64>,
}

impl<'a> Run<'a> {
    /// Carries out `plan` on the lock `name`. How many operations, and the first difference.
    pub(crate) fn of(
        plan: &'a Plan,
        stage: &'a Stage,
        prefix: &str,
        name: &str,
    ) -> (u64, Result<(), String>) {
        let mut run = Run {
            pair: Pair::new(stage, plan, prefix, name),
            of: plan.of,
            actors: &plan.actors,
            knowledge: vec![Knowledge::default(); plan.actors.len()],
            sent: Vec::new(),
            deadlines: Vec::new(),
            tombs: Vec::new(),
        };
        let result = run.carry_out(&plan.steps);
        let told = result.map_err(|difference| format!("{}{difference}", run.pair.story));
        (run.pair.operations, told)
    }

    fn carry_out(&mut self, steps: &[Step]) -> Result<(), String> {
        for step in steps {
            self.step(step)?;
            if self.pair.parted {
                return Ok(());
            }
        }
        self.inspect()?;
        // In the end all is forgotten.
        self.pair
            .set_clock(self.pair.latest_time() + 36_000_000_000);
        self.inspect()?;
        same("what is left", &self.pair.record, &Record::default())
    }

    fn inspect(&mut self) -> Result<(), String> {
        let request = Request {
            kind: self.actors[0].kind,
            op: Op::Inspect,
            valid_until: 0,
            keys: Keys::All,
        };
        self.pair.send(&request, Publish::Off, false).map(|_| ())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send {
                who,
                act,
                publish,
                plain,
                keys,
            } => {
                let number = self.actor(*who);
                let now = self.pair.time();
                let actor = &self.actors[number];
                let mut request = self.knowledge[number].request(number, actor, act, now);
                // A client that needs a token waits until both keys are at one node.
                let needs_token =
                    actor.kind == LockKind::FencedMutex && matches!(act, Act::Acquire { .. });
                if !needs_token && !matches!(act, Act::Raise { .. }) {
                    request.keys = *keys;
                }
                self.send(&request, *publish, *plain)?;
                self.sent.push(request);
            }
            Step::Resend {
                sent,
                publish,
                plain,
            } if !self.sent.is_empty() => {
                let request = sent.of(&self.sent).clone();
                self.send(&request, *publish, *plain)?;
            }
            Step::Resend { .. } => {}
            Step::Hear { client: n, hears } => {
                let client = client(*n);
                self.pair.deaf.retain(|deaf| *deaf != client);
                if !hears {
                    self.pair.deaf.push(client);
                }
            }
            Step::Foreign(act) => {
                self.pair.foreign(*act)?;
                self.note_string();
            }
            Step::Forward(span) => self.pair.set_clock(self.pair.time() + micros(*span)),
            Step::ForwardTo { deadline, past } => self.forward_to(*deadline, *past),
            Step::Back(span) => self.back(*span),
        }
        Ok(())
    }

    fn send(&mut self, request: &Request, publish: Publish, plain: bool) -> Result<(), String> {
        let Answer { reply, told } = self.pair.send(request, publish, plain)?;
        if let (Op::Acquire { hold, .. } | Op::Yield { hold, .. }, Reply::Granted(token)) =
            (&request.op, &reply)
        {
            self.knowledge[number(&hold.to_string())].hears_of(*token);
        }
        for (message, heard) in told {
            if let (Message::Granted { hold, token, .. }, true) = (message, heard) {
                self.knowledge[number(&hold.to_string())].hears_of(token);
            }
        }
        let Record {
            holds,
            writers,
            readers,
            buried,
            ..
        } = &self.pair.record;
        let places = writers.places.values().chain(readers.places.values());
        self.deadlines
            .extend(holds.values().map(|hold| hold.deadline));
        let ends = places.flat_map(|place| [place.deadline, place.deadline + KEPT]);
        self.deadlines.extend(ends);
        self.deadlines.sort_unstable();
        self.deadlines.dedup();
        self.tombs.extend(buried.values());
        self.note_string();
        Ok(())
    }

    /// The first moment at which a mutex' string is gone.
    fn note_string(&mut self) {
        let until = self.pair.held.as_ref().and_then(|held| held.until);
        self.tombs.extend(until.map(|until| 1000 * (until + 1)));
    }

    fn forward_to(&mut self, deadline: Index, past: i64) {
        let (time, now) = (self.pair.time(), self.pair.now());
        let ends = self
            .deadlines
            .iter()
            .map(|at| (at + time).saturating_sub(now));
        let kept = self.pair.kept.into_iter().chain([self.pair.promised()]);
        let others = self.tombs.iter().copied().chain(kept);
        let all = ends.chain(others).map(|at| at.saturating_add_signed(past));
        let mut ahead: Vec<u64> = all.filter(|at| *at > time).collect();
        ahead.sort_unstable();
        if !ahead.is_empty() {
            self.pair.set_clock(*deadline.of(&ahead));
        }
    }

    /// Steps back, unless that brings back to life what has expired: how much of it is already cleared away is
    /// not specified.
    fn back(&mut self, span: Duration) {
        let (from, now) = (self.pair.time(), self.pair.now());
        let to = from - micros(span);
        self.pair.set_clock(to);
        let then = self.pair.now();
        let revived = |at: &u64| then < *at && *at <= now;
        let unburied = |at: &u64| to < *at && *at <= from;
        if self.deadlines.iter().any(revived) || self.tombs.iter().any(unburied) {
            self.pair.set_clock(from);
        }
    }

    fn actor(&self, who: Who) -> usize {
        let record = &self.pair.record;
        let (index, ids): (_, Vec<&String>) = match who {
            Who::Actor(actor) => return actor,
            Who::Holder(index) if self.of == Family::Mutex => {
                let held = self.pair.held.iter().map(|held| &held.value);
                let ours = (0..self.actors.len()).map(|at| id(at, &self.actors[at]).to_string());
                let ours: Vec<_> = ours.collect();
                (index, held.filter(|value| ours.contains(value)).collect())
            }
            Who::Holder(index) => {
                let live = record.live(self.pair.now());
                (index, live.map(|(id, _)| id).collect())
            }
            Who::Waiter(index) => {
                let [writers, readers] = [&record.writers, &record.readers];
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
