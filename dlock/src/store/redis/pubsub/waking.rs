//! Waking very many who may have missed something.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::hearing::PubSub;
use crate::clock::sleep;
use crate::protocol::HoldId;
use crate::random::HashSet;
use crate::tasks::Place;

/// How many are woken at once, and after which pause the next: each asks a server then, which has others to serve.
const AT_ONCE: usize = 32;
const PAUSE: Duration = Duration::from_millis(4);

/// Who is to be woken, each once.
#[derive(Debug, Default)]
pub(super) struct Waking(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<HoldId>,
    known: HashSet<HoldId>,
    /// Whether somebody sees to the queue.
    is_seen_to: bool,
}

impl Waking {
    /// Adds them; whether somebody has to see to the queue now.
    fn add(&self, holds: impl IntoIterator<Item = HoldId>) -> bool {
        let mut queue = self.0.lock();
        let queue = &mut *queue;
        for hold in holds {
            if queue.known.insert(hold.clone()) {
                queue.waiting.push_back(hold);
            }
        }
        !queue.waiting.is_empty() && !std::mem::replace(&mut queue.is_seen_to, true)
    }

    /// The next few; nobody sees to the queue any more if there are none.
    fn next(&self) -> Vec<HoldId> {
        let mut queue = self.0.lock();
        let queue = &mut *queue;
        let count = queue.waiting.len().min(AT_ONCE);
        let next: Vec<_> = queue.waiting.drain(..count).collect();
        for hold in &next {
            queue.known.remove(hold);
        }
        queue.is_seen_to = !next.is_empty();
        next
    }
}

impl PubSub {
    /// Holds may have missed something: what they hear before they have asked again counts no more. They are told to, a few
    /// at a time.
    pub(super) fn missed(self: &Arc<Self>, holds: Vec<HoldId>) {
        for hold in &holds {
            self.wakeups.distrust(hold);
        }
        if self.waking.add(holds) {
            let first = self.waking.next();
            self.wake(&first);
            let others = wake_all(Arc::clone(self));
            self.env.tasks.spawn(&Place::own(), others);
        }
    }

    fn wake(&self, holds: &[HoldId]) {
        for hold in holds {
            self.wakeups.look(hold);
        }
    }
}

async fn wake_all(pubsub: Arc<PubSub>) {
    loop {
        sleep(PAUSE).await;
        let next = pubsub.waking.next();
        if next.is_empty() {
            return;
        }
        pubsub.wake(&next);
    }
}
