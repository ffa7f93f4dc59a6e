//! The messages to a member that are pending while no caller waits for them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select;
use futures_util::{StreamExt, stream};
use tokio::sync::Notify;

use super::member::Member;
use crate::clock::{BootInstant, Instant, sleep, timeout_at};
use crate::key::LockKey;
use crate::protocol::{HoldId, Op};
use crate::random::{self, HashMap};
use crate::sync::Mutex;
use crate::tasks::Place;

/// How many messages are sent at the same time.
const ABREAST: usize = 64;
/// How many letters there may be for another one about a token to be kept: a clock that is an hour ahead makes them last for an
/// hour if the member is away for so long.
const TOKENS: usize = 10_000;
/// How many letters there may be: one about the end of a hold is not kept beyond that, and the hold stays until its lease
/// ends there.
const MOST: usize = 100_000;
/// From how many on those that cannot matter any more are looked for.
const CROWD: usize = 1_000;
/// How long one try may take.
const TRY: Duration = Duration::from_secs(1);
/// Between tries.
const PAUSE: std::ops::Range<u64> = 20..200;

/// What a letter is about: a later one about the same takes its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum About {
    /// The end of a hold, or of an attempt.
    End(HoldId),
    /// The last token of a lock.
    Token(LockKey),
}

/// A pending message. It is sent until it is answered or outdated.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) key: LockKey,
    pub(super) op: Op,
    pub(super) until: BootInstant,
}

/// The letters to one member.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    letters: Mutex<Letters>,
    /// All that could be delivered has been.
    delivered: Notify,
    /// A letter has come that can be delivered, while others cannot.
    posted: Notify,
}

#[derive(Debug, Default)]
struct Letters {
    waiting: HashMap<About, Letter>,
    /// Whether a task delivers them.
    running: bool,
    /// Whether that waits for the member to answer again.
    stuck: bool,
    /// When the last of them cannot matter any more.
    until: Option<BootInstant>,
    /// From how many on those that cannot matter any more are looked for.
    crowd: usize,
}

impl Letters {
    fn put(&mut self, about: About, mut letter: Letter) {
        let room = if matches!(about, About::Token(_)) {
            TOKENS
        } else {
            MOST
        };
        if self.waiting.len() >= room && !self.waiting.contains_key(&about) {
            return;
        }
        if self.waiting.len() >= self.crowd {
            let now = BootInstant::now();
            self.waiting.retain(|_, letter| letter.until > now);
            self.crowd = CROWD.max(2 * self.waiting.len());
        }
        self.until = self.until.max(Some(letter.until));
        if let Some(other) = self.waiting.get_mut(&about)
            && let (Op::Raise { token: known, .. }, Op::Raise { token, .. }) =
                (&other.op, &letter.op)
        {
            // The larger token, for as long as either is pending.
            letter.until = letter.until.max(other.until);
            if known > token {
                other.until = letter.until;
                return;
            }
        }
        self.waiting.insert(about, letter);
    }

    /// It could not be delivered.
    fn put_back(&mut self, about: About, letter: Letter) {
        if let Some(newer) = self.waiting.remove(&about) {
            // One that came meanwhile knows better, unless it is about a smaller token.
            self.until = self.until.max(Some(letter.until));
            self.waiting.insert(about.clone(), letter);
            self.put(about, newer);
        } else {
            self.put(about, letter);
        }
    }
}

impl Member {
    /// Has a task send the message as soon as possible, on the runtime that never ends.
    pub(super) fn post(self: &Arc<Self>, about: About, letter: Letter) {
        let mut letters = self.outbox.letters.lock();
        let slot = letter.key.slot();
        letters.put(about, letter);
        if !std::mem::replace(&mut letters.running, true) {
            Place::own().spawn(deliver(Arc::clone(self)));
        } else if letters.stuck && self.is_fit(slot) {
            letters.stuck = false;
            self.outbox.posted.notify_one();
        }
    }

    /// Completes when no message is left that could be sent now.
    pub(super) async fn delivered(&self) {
        loop {
            let mut delivered = pin!(self.outbox.delivered.notified());
            delivered.as_mut().enable();
            {
                let letters = self.outbox.letters.lock();
                if !letters.running || letters.stuck {
                    return;
                }
            }
            delivered.await;
        }
    }

    /// All letters, or none if nothing is left to do.
    fn collect(&self) -> HashMap<About, Letter> {
        let mut letters = self.outbox.letters.lock();
        letters.stuck = false;
        if self.is_closed() {
            letters.waiting.clear();
        }
        letters.running = !letters.waiting.is_empty();
        letters.until = None;
        std::mem::take(&mut letters.waiting)
    }

    /// These could not be delivered. By when they cannot matter any more; nothing if some could be delivered now.
    fn take_back(self: &Arc<Self>, left: Vec<(About, Letter)>) -> Option<BootInstant> {
        let mut letters = self.outbox.letters.lock();
        for (about, letter) in left {
            letters.put_back(about, letter);
        }
        // Others may have come meanwhile.
        let mut waiting = letters.waiting.values();
        let stuck = !waiting.any(|letter| self.is_fit(letter.key.slot()));
        letters.stuck = stuck;
        letters.until.filter(|_| stuck)
    }
}

async fn deliver(member: Arc<Member>) {
    loop {
        let mut changed = pin!(member.roster.changed.notified());
        changed.as_mut().enable();
        let posted = pin!(member.outbox.posted.notified());
        let letters = member.collect();
        if letters.is_empty() {
            member.outbox.delivered.notify_waiters();
            return;
        }
        let told = stream::iter(letters).map(|(about, letter)| {
            let member = &member;
            async move {
                if letter.until <= BootInstant::now() {
                    return None;
                }
                // The message would wait for a connection there, and all messages behind it.
                if !member.is_fit(letter.key.slot()) {
                    return Some((about, letter));
                }
                let until = Instant::now() + TRY;
                let outcome = member.call(&letter.key, &letter.op, until).await;
                outcome.is_err().then_some((about, letter))
            }
        });
        let left: Vec<_> = told
            .buffer_unordered(ABREAST)
            .filter_map(std::future::ready)
            .collect()
            .await;
        if left.is_empty() {
            continue;
        }
        let until = member.take_back(left);
        member.outbox.delivered.notify_waiters();
        if let Some(until) = until {
            let left = until.since(BootInstant::now());
            let news = select(changed, posted);
            let _ = timeout_at(Instant::now() + left, news).await;
        } else {
            // The server answers, and refuses: it loads its data, perhaps.
            sleep(Duration::from_millis(random::u64(PAUSE))).await;
        }
    }
}
