//! A plan carried out on the memory store: which operations it sends when, and the answers.

use std::sync::Arc;
use std::time::Duration;

use dlock::__internals::{
    HoldId, MemoryStore, Message, Op, Reply, ServerClock as _, fencing_token, lock_key,
};
use dlock::{FencingToken, LockInfo, LockKey};
use dlock_tests::TestClock;
use proptest::sample::Index;

use crate::plan::{Actor, Plan, Step, Who};

/// All that happened to one lock.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) key: LockKey,
    /// Where wake-ups go, up to the client's id.
    pub(crate) channels: String,
    pub(crate) sent: Vec<Sent>,
    store: MemoryStore,
    clock: TestClock,
    /// Per actor, the token it has been granted last.
    tokens: Vec<u64>,
    /// Every deadline that an answer promised.
    promised: Vec<u64>,
}

/// One operation and its answer.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) time: u64,
    pub(crate) op: Op,
    pub(crate) reply: Reply,
    pub(crate) told: Vec<Message>,
}

impl Run {
    /// Carries out `plan` on the lock `name`, and in the end waits until all is forgotten.
    pub(crate) fn of(plan: &Plan, prefix: &str, name: &str) -> Self {
        let clock = TestClock::default();
        let key = lock_key(prefix, name).expect("a valid name");
        let mut run = Self {
            channels: key.as_str().replacen(':', "~c:", 1) + ":",
            key,
            sent: Vec::new(),
            store: MemoryStore::with_clock(clock.clone()),
            clock,
            tokens: vec![0; plan.actors.len()],
            promised: Vec::new(),
        };
        for step in &plan.steps {
            run.step(step, &plan.actors);
        }
        run.inspect();
        run.forward(Duration::from_secs(3600));
        run.inspect();
        run
    }

    fn step(&mut self, step: &Step, actors: &[Actor]) {
        let op = match *step {
            Step::Forward(span) => return self.forward(span),
            Step::ForwardTo { deadline, past } => return self.forward_to(deadline, past),
            Step::Back(span) => return self.back(span),
            Step::Resend { sent } => {
                let of_actors = |sent: &&Sent| sent.op != Op::Inspect;
                let earlier: Vec<&Sent> = self.sent.iter().filter(of_actors).collect();
                if earlier.is_empty() {
                    return;
                }
                sent.get(&earlier).op.clone()
            }
            Step::Acquire {
                actor,
                lease,
                queue,
            } => Op::Acquire {
                hold: id(actor, actors),
                mode: actors[actor].mode,
                lease,
                owner: actors[actor].owner.map(Arc::from),
                queue,
            },
            Step::Renew { who, lease } => Op::Renew {
                hold: id(self.actor(who), actors),
                lease,
            },
            Step::Abandon { who } => Op::Abandon {
                hold: id(self.actor(who), actors),
            },
            Step::Release { who, handed, lease } => {
                let actor = self.actor(who);
                Op::Release {
                    hold: id(actor, actors),
                    handed: self.handed(actor, handed),
                    lease,
                }
            }
            Step::Yield { who, handed, lease } => {
                let actor = self.actor(who);
                Op::Yield {
                    hold: id(actor, actors),
                    handed: self.handed(actor, handed),
                    lease,
                }
            }
        };
        // A lock's time does not go back behind its last token.
        let mut now = self.last_token().max(self.clock.micros());
        if let Op::Yield {
            handed: Some(handed),
            ..
        } = op
        {
            now = now.max(handed.as_u64());
        }
        let reply = self.send(op.clone());
        self.note(&op, &reply, now);
    }

    fn send(&mut self, op: Op) -> Reply {
        let (reply, told) = self.store.decide(&self.key, &op);
        self.sent.push(Sent {
            time: self.clock.micros(),
            op,
            reply: reply.clone(),
            told,
        });
        reply
    }

    fn note(&mut self, op: &Op, reply: &Reply, now: u64) {
        let span = match (op, reply) {
            (
                Op::Acquire { hold, lease, .. } | Op::Yield { hold, lease, .. },
                Reply::Granted(token),
            ) => {
                self.tokens[number(&hold.to_string())] = token.as_u64();
                Some(*lease)
            }
            (Op::Renew { lease, .. }, Reply::Done) => Some(*lease),
            (Op::Acquire { queue, .. }, Reply::Queued { .. }) => *queue,
            _ => None,
        };
        self.promised.extend(span.map(|span| now + micros(span)));
    }

    fn forward(&mut self, span: Duration) {
        self.clock.set(self.clock.micros() + micros(span));
    }

    fn forward_to(&mut self, deadline: Index, past: i64) {
        let time = self.clock.micros();
        let mut ahead = self.promised.clone();
        ahead.retain(|at| at.saturating_add_signed(past) > time);
        if !ahead.is_empty() {
            self.clock
                .set(deadline.get(&ahead).saturating_add_signed(past));
        }
    }

    /// Steps back, unless that brings back to life what has expired: how much of it a store has
    /// already cleared away is not specified.
    fn back(&mut self, span: Duration) {
        let last = self.last_token();
        let from = self.clock.micros();
        let to = from - micros(span);
        let revives = |at: &u64| to.max(last) < *at && *at <= from.max(last);
        if !self.promised.iter().any(revives) {
            self.clock.set(to);
        }
    }

    fn inspect(&mut self) -> LockInfo {
        match self.send(Op::Inspect) {
            Reply::Info(info) => info,
            other => panic!("inspect answers {other:?}"),
        }
    }

    /// The last token that a client handed out itself.
    fn handed(&self, actor: usize, count: u64) -> Option<FencingToken> {
        (count > 0).then(|| fencing_token(self.tokens[actor] + count))
    }

    fn last_token(&mut self) -> u64 {
        let token = self.inspect().last_token;
        token.map_or(0, FencingToken::as_u64)
    }

    fn actor(&mut self, who: Who) -> usize {
        match who {
            Who::Actor(actor) => actor,
            Who::Holder(index) => match &self.inspect().holders[..] {
                [] => 0,
                holders => number(&index.get(holders).id),
            },
        }
    }
}

fn id(actor: usize, actors: &[Actor]) -> HoldId {
    let text = format!("client-{}/00/{actor}", actors[actor].client);
    HoldId::parse(&text).expect("an id")
}

/// The actor behind an id.
fn number(id: &str) -> usize {
    let number = id.rsplit('/').next().expect("an id has parts");
    number
        .parse()
        .expect("ids here end with the actor's number")
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a short time")
}
