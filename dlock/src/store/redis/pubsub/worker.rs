//! What the pub/sub connections are to do, and the tasks that do it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::channels::Channels;
use super::channels::{Name, State};
use super::hearing::PubSub;
use super::subscriber::Subscriber;
use crate::backoff::Backoff;
use crate::clock::{Instant, sleep, timeout};
use crate::slot::Slot;
use crate::store::redis::node::{Node, NodeId};

/// How often a quiet connection is tried.
const PING_AFTER: Duration = Duration::from_secs(5);

/// How many tries a connection without channels is kept for.
const PINGS_WITHOUT_USE: u32 = 6;

/// How many jobs are under way at once.
const AT_ONCE: usize = 256;

/// The jobs of one node, until dropped, with a runtime perhaps.
pub(super) struct Worker {
    pubsub: Arc<PubSub>,
    node: Arc<Node>,
    jobs: Arc<Jobs>,
}

impl Worker {
    pub(super) fn new(pubsub: &Arc<PubSub>, node: &Arc<Node>, jobs: &Arc<Jobs>) -> Self {
        Self {
            pubsub: Arc::clone(pubsub),
            node: Arc::clone(node),
            jobs: Arc::clone(jobs),
        }
    }

    /// Connects when there is something to do, does it, and starts over when the connection ends.
    pub(super) async fn run(self) {
        let mut backoff = Backoff::of_connect();
        while self.jobs.any().await {
            if let Some(subscriber) = Subscriber::open(&self.pubsub, &self.node, &self.jobs).await {
                if serve(&self.jobs, subscriber).await {
                    backoff = Backoff::of_connect();
                    continue;
                }
            } else {
                self.pubsub.env.refresh.request();
            }
            sleep(backoff.pause()).await;
            // The keeper will ask again, perhaps another node.
            for name in self.jobs.drain() {
                self.pubsub.failed(&name);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Later jobs for this node need another worker.
        self.jobs.close();
        for name in self.jobs.drain() {
            // Its waiters look by themselves: a task wakes waiters, and a worker may be dropped while a task is being started.
            let _relied = self.pubsub.channels.fail(&name);
        }
        self.pubsub.nudge.notify_one();
    }
}

/// Until the connection ends or the node has left; whether the connection was of use.
async fn serve(jobs: &Jobs, mut subscriber: Subscriber) -> bool {
    let (mut unused, mut of_use) = (0, false);
    loop {
        let alive = tokio::select! {
            biased;
            () = subscriber.ended() => return of_use,
            open = jobs.any() => {
                let done = open && subscriber.carry_out(jobs.take(AT_ONCE)).await;
                of_use |= done;
                done
            }
            () = sleep(PING_AFTER) => {
                unused = if subscriber.is_used() { 0 } else { unused + 1 };
                unused < PINGS_WITHOUT_USE && subscriber.ping().await
            }
        };
        if !alive {
            return of_use;
        }
    }
}

/// The jobs of one node's connection, done one after the other.
#[derive(Default)]
pub(super) struct Jobs {
    queue: Mutex<Queue>,
    more: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    closed: bool,
}

/// Something to do on the connection.
pub(super) enum Job {
    Subscribe(Name),
    /// If the connection with this number is still there.
    Unsubscribe(Name, u64),
}

impl Jobs {
    /// Returns the job if no worker will do it.
    pub(super) fn push(&self, job: Job) -> Result<(), Job> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(job);
        }
        queue.waiting.push_back(job);
        drop(queue);
        self.more.notify_one();
        Ok(())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.queue.lock().closed
    }

    /// Ends the worker: its node has left, or its runtime.
    pub(super) fn close(&self) {
        self.queue.lock().closed = true;
        self.more.notify_one();
    }

    /// Waits until there are jobs; `false` when there will be no more.
    pub(super) async fn any(&self) -> bool {
        loop {
            {
                let queue = self.queue.lock();
                if queue.closed || !queue.waiting.is_empty() {
                    return !queue.closed;
                }
            }
            self.more.notified().await;
        }
    }

    /// The next jobs, so many at most.
    pub(super) fn take(&self, most: usize) -> Vec<Job> {
        let mut queue = self.queue.lock();
        let count = queue.waiting.len().min(most);
        queue.waiting.drain(..count).collect()
    }

    /// Takes all jobs away; the channels that were to be subscribed.
    pub(super) fn drain(&self) -> impl Iterator<Item = Name> + use<> {
        let jobs = std::mem::take(&mut self.queue.lock().waiting);
        jobs.into_iter().filter_map(|job| match job {
            Job::Subscribe(name) => Some(name),
            Job::Unsubscribe(..) => None,
        })
    }
}

/// How long a channel stays subscribed without listeners: a hot lock will need it again.
const LINGER: Duration = Duration::from_secs(5);

/// How many channels may linger.
const LINGERING: usize = 1000;

/// The names to subscribe and to unsubscribe, found by a sweep.
#[derive(Default)]
pub(super) struct Chores {
    pub(super) subscribe: Vec<(Name, Slot)>,
    pub(super) unsubscribe: Vec<(Name, NodeId, u64)>,
}

impl Channels {
    /// Drops channels without a listener for long, and finds lost channels that are wanted.
    pub(super) fn sweep(&self, now: Instant) -> Chores {
        let mut chores = Chores::default();
        let mut table = self.lock();
        let mut too_many = table.idle.saturating_sub(LINGERING);
        let mut done = Vec::new();
        for (name, channel) in &mut table.channels {
            match (channel.state, channel.idle_since) {
                (State::Lost, None) => {
                    channel.state = State::Pending;
                    chores.subscribe.push((Arc::clone(name), channel.slot));
                }
                (State::Lost, Some(_)) => done.push(Arc::clone(name)),
                (State::Live(node, number), Some(since)) => {
                    if now - since >= LINGER || too_many > 0 {
                        too_many = too_many.saturating_sub(1);
                        chores.unsubscribe.push((Arc::clone(name), node, number));
                        done.push(Arc::clone(name));
                    }
                }
                // Its worker decides once its turn comes.
                (State::Pending | State::Asked(_), _) | (State::Live(..), None) => {}
            }
        }
        for name in done {
            table.forget(&name);
        }
        chores
    }
}

/// How often to look without being told.
const INTERVAL: Duration = Duration::from_millis(250);

/// The least time between two looks: what fails at once is not tried at once for ever.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends with the store's tasks.
pub(super) async fn keep(pubsub: Arc<PubSub>) {
    let mut away = pubsub.env.home.is_left();
    loop {
        if pubsub.channels.is_empty() {
            pubsub.nudge.notified().await;
        } else {
            // Either way it is time.
            let _ = timeout(INTERVAL, pubsub.nudge.notified()).await;
        }
        let now_away = pubsub.env.home.is_left();
        if std::mem::replace(&mut away, now_away) != now_away {
            pubsub.start_over();
        }
        let chores = pubsub.channels.sweep(Instant::now());
        for (name, node, number) in chores.unsubscribe {
            pubsub.job(node, Job::Unsubscribe(name, number));
        }
        for (name, slot) in chores.subscribe {
            pubsub.subscribe(&name, slot);
        }
        sleep(PAUSE).await;
    }
}
