//! What a member has still to be told although nobody waits for that.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::Notify;

use super::member::Member;
use crate::clock::{BootInstant, Instant, sleep};
use crate::key::LockKey;
use crate::protocol::{HoldId, Op};
use crate::random::{self, HashMap};
use crate::sync::Mutex;
use crate::tasks::Place;

/// How many are told at the same time.
const ABREAST: usize = 64;
/// How many letters there may be for another one about a token to be kept: a clock that is an hour ahead makes them last for an
/// hour if the member is away for so long.
const TOKENS: usize = 10_000;
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

/// Something to be told, until it is answered or cannot matter any more.
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
}

#[derive(Debug, Default)]
struct Letters {
    waiting: HashMap<About, Letter>,
    /// Whether a task delivers them.
    running: bool,
}

impl Letters {
    fn put(&mut self, about: About, mut letter: Letter) {
        let is_new = || !self.waiting.contains_key(&about);
        if matches!(about, About::Token(_)) && self.waiting.len() >= TOKENS && is_new() {
            return;
        }
        if let Some(other) = self.waiting.get_mut(&about)
            && let (Op::Raise { token: known, .. }, Op::Raise { token, .. }) =
                (&other.op, &letter.op)
        {
            // The larger one, for as long as either is to be told.
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
            self.waiting.insert(about.clone(), letter);
            self.put(about, newer);
        } else {
            self.waiting.insert(about, letter);
        }
    }
}

impl Member {
    /// Has this told, as soon as it can be, by a task on the runtime that never ends.
    pub(super) fn post(self: &Arc<Self>, about: About, letter: Letter) {
        let mut letters = self.outbox.letters.lock();
        letters.put(about, letter);
        if !std::mem::replace(&mut letters.running, true) {
            Place::own().spawn(deliver(Arc::clone(self)));
        }
    }

    /// Completes when nothing is left to tell that could be told now.
    pub(super) async fn delivered(&self) {
        loop {
            let delivered = self.outbox.delivered.notified();
            if !self.outbox.letters.lock().running || self.health.is_down(BootInstant::now()) {
                return;
            }
            delivered.await;
        }
    }
}

async fn deliver(member: Arc<Member>) {
    loop {
        let letters = {
            let mut letters = member.outbox.letters.lock();
            let now = BootInstant::now();
            letters
                .waiting
                .retain(|_, letter| letter.until > now && !member.is_closed());
            letters.running = !letters.waiting.is_empty();
            match letters.waiting.keys().next().cloned() {
                // One is enough to find out whether it has come back.
                Some(first) if member.health.is_down(now) => {
                    letters.waiting.remove_entry(&first).into_iter().collect()
                }
                _ => std::mem::take(&mut letters.waiting),
            }
        };
        if letters.is_empty() {
            member.outbox.delivered.notify_waiters();
            return;
        }
        let told = stream::iter(letters).map(|(about, letter)| {
            let member = &member;
            async move {
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
        member.outbox.delivered.notify_waiters();
        {
            let mut letters = member.outbox.letters.lock();
            for (about, letter) in left {
                letters.put_back(about, letter);
            }
        }
        sleep(Duration::from_millis(random::u64(PAUSE))).await;
    }
}
